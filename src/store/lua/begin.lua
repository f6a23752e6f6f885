-- The start of every script: time, and what the caller passes.
--
-- KEYS: the keys of the lines, shortest window first. ARGV: the caller's 5 bytes, its number, the operation
-- ('t'ake, 'c'harge, 'p'eek, 'r'efund, then 'r' if a receipt is wanted or given; or 'm'erged takes, then how
-- many), then the lines as look.lua reads them. Everything is read, and so checked, before the first write: a script that fails is not rolled
-- back. TIME comes first: a user who may not call it writes nothing.
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local now_us = time[1] * 1000000 + time[2]
local caller, first_number = ARGV[1], tonumber(ARGV[2])
local operation, with_receipt = ARGV[3]:sub(1, 1), ARGV[3]:sub(2, 2) == 'r'
local merged = operation == 'm'
local takes = merged and tonumber(ARGV[3]:sub(2)) or 1

-- Numbers are whole, not negative and at most 2^53; `math.fmod` is exact where `%` is not.
local function divide(value, by) return (value - math.fmod(value, by)) / by end
local function divide_up(value, by)
  return divide(value, by) + (math.fmod(value, by) > 0 and 1 or 0)
end

-- A value that is not what the algorithm keeps: somebody else's.
local function foreign() error({err = 'WRONGTYPE the key holds no value of brim'}) end
local MAX_EXACT = 9007199254740992 -- 2^53
local function check_whole(number)
  if not number or number < 0 or number > MAX_EXACT or math.fmod(number, 1) ~= 0 then foreign() end
  return number
end

