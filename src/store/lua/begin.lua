-- The start of every script: time, and what the caller passes.
--
-- KEYS: the keys of the lines, shortest window first. ARGV: the caller's 5 bytes, its number, then for
-- each line: algorithm, units, window (ms), cost, and what it is: 'e'nforced or 's'hadow, then 'a'll
-- if refused calls count too. Everything is read, and so checked, before the first write: a script
-- that fails is not rolled back. TIME comes first: a user who may not call it writes nothing.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local caller, first_number = ARGV[1], tonumber(ARGV[2])

