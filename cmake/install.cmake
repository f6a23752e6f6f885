# What `cmake --install` gives: the headers, one archive with the whole engine, the CMake package
# `brim` with its target brim::brim, and the program if it was built.
include(CMakePackageConfigHelpers)

# Named brim_engine because the program is called brim; users say brim::brim and -lbrim.
add_library(brim_engine STATIC)
foreach(folder base redis algorithm policy store limiter)
  target_sources(brim_engine PRIVATE $<TARGET_OBJECTS:brim_${folder}>)
endforeach()
target_include_directories(brim_engine PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(brim_engine PUBLIC cxx_std_20)
target_link_libraries(brim_engine PUBLIC Threads::Threads OpenSSL::SSL OpenSSL::Crypto)
set_target_properties(brim_engine PROPERTIES
  OUTPUT_NAME brim EXPORT_NAME brim LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
add_library(brim::brim ALIAS brim_engine)

install(DIRECTORY include/brim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS brim_engine EXPORT brimTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS brim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/brim)
install(EXPORT brimTargets NAMESPACE brim:: DESTINATION ${package_dir})
configure_package_config_file(cmake/brimConfig.cmake.in ${PROJECT_BINARY_DIR}/brimConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/brimConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/brimConfig.cmake ${PROJECT_BINARY_DIR}/brimConfigVersion.cmake
  DESTINATION ${package_dir})
