-- Take, for the commonest shape alone: every line an enforced sliding-window log, cost 1, no receipt. The same
-- answers and the same state as take.lua with sliding_window.lua, at four commands a line.
--
-- KEYS: the keys, shortest window first. ARGV: the member, then units and window (ms) of each line.
-- Returns {0, used of each line} with the unit charged, or {the line that refused, retry, then used and
-- reset of each line that was looked at}; times in ms.
--
-- What saves commands: a log's expiry is always the time of its newest entry + window + 1 s, so reading it
-- tells the newest time, and that the key is there. And expired entries are dropped by one charge in
-- eight: they are not counted, and one turn drops many.
local TRIM = 256
local MAX_EXACT = 9007199254740992 -- 2^53
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local member = ARGV[1]
local lines = {}

local function refuse(i, key, line, units, window)
  local retry = 0
  if units > 0 then -- it fits once the live entry of rank used - units (0 is the oldest) has left
    local first = call('ZRANGE', key, '(' .. line.cutoff, '+inf', 'BYSCORE',
      'LIMIT', line.used - units, 1, 'WITHSCORES')
    retry = first[2] - line.cutoff
  end
  if line.lost then call('PEXPIREAT', key, line.newest + window + 1000) end
  local out = {i, retry}
  for n = 1, i do
    out[2 * n + 1] = lines[n].used
    out[2 * n + 2] = lines[n].used > 0 and lines[n].newest - lines[n].cutoff or 0
  end
  return out
end

for i = 1, #KEYS do
  local key, units, window = KEYS[i], tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local expires = call('PEXPIRETIME', key)
  local line = {used = 0, at = now, cutoff = now - window}
  lines[i] = line
  if expires ~= -2 then
    line.newest, line.lost, line.there = expires - window - 1000, expires == -1, true
    if line.lost or line.newest > now then -- no TTL, or time stepped back: the log itself tells
      line.newest = tonumber(call('ZRANGE', key, -1, -1, 'WITHSCORES')[2])
      if line.newest > MAX_EXACT or math.fmod(line.newest, 1) ~= 0 then
        error({err = 'WRONGTYPE the key holds no value of brim'})
      end
      line.at = math.max(now, line.newest)
      line.cutoff = line.at - window
    end
    line.used = call('ZCOUNT', key, '(' .. line.cutoff, '+inf')
  end
  if line.used >= units then return refuse(i, key, line, units, window) end
end

local out = {0}
for i, line in ipairs(lines) do
  local key = KEYS[i]
  if line.there then
    if line.used == 0 then
      call('UNLINK', key)
    elseif time[2] % 8 == 0 then
      local expired = call('ZCARD', key) - line.used
      if expired > 0 then call('ZREMRANGEBYRANK', key, 0, math.min(expired, TRIM) - 1) end
    end
  end
  -- A member that is there already (another caller's, against all odds) must not swallow this unit.
  while call('ZADD', key, 'NX', line.at, member) == 0 do member = member .. '+' end
  call('PEXPIREAT', key, line.at + ARGV[2 * i + 1] + 1000)
  out[i + 1] = line.used + 1
end
return out
