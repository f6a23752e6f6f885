# Runs PROGRAM; fails unless it succeeds and prints what the regular expression EXPECTED says, and no more.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "^${EXPECTED}$")
  message(FATAL_ERROR "it said:\n${output}\nexpected:\n${EXPECTED}")
endif()
