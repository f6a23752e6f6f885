-- Take, for the commonest shape alone: every line an enforced sliding-window log, cost 1, no receipt. The same
-- answers and the same state as take.lua with sliding_window.lua, at three commands a line.
--
-- KEYS: the keys, shortest window first. ARGV: the member, then units and window (ms) of each line.
-- Returns {0, used of each line} with the unit charged, or {the line that refused, retry, then used and
-- reset of each line that was looked at}; times in ms.
--
-- What saves commands: a line is looked at by counting alone, as if time had not stepped back. If it had, `now`
-- would be the newest time of the log and fewer entries would count: what fits, fits all the same. And a log's
-- expiry is always the time of its newest entry + window + 1 s. So one that cannot be moved forward (GT) tells
-- of a newer entry, or that the expiry was lost, and the log itself is asked; and a log without a live entry
-- that has an expiry (NX) is one of expired entries, which goes as a whole. Others are dropped by one charge
-- in eight. Numbers are passed on as text: the server takes long to format one.
local TRIM = 256
local MAX_EXACT = 9007199254740992 -- 2^53
local keys, args, call, format = KEYS, ARGV, redis.call, string.format
local time = call('TIME')
local micros = tonumber(time[2])
local now = time[1] * 1000 + (micros - micros % 1000) / 1000

-- The newest time of a log, its used units, and whether it has lost its expiry.
local function look_closely(i, used)
  local key, window = keys[i], args[2 * i + 1]
  local expires = call('PEXPIRETIME', key)
  local newest = expires - window - 1000
  if expires >= 0 and newest <= now then return newest, used end
  newest = tonumber(call('ZRANGE', key, '-1', '-1', 'WITHSCORES')[2])
  if newest > MAX_EXACT or math.fmod(newest, 1) ~= 0 then
    error({err = 'WRONGTYPE the key holds no value of brim'})
  end
  if newest > now then used = call('ZCOUNT', key, format('(%d', newest - window), '+inf') end
  return newest, used, expires == -1
end

-- The answer of a line that does not fit; nothing if it does, as time has stepped back.
local function refuse(i, counted)
  local out = {i, 0}
  for n = 1, i do
    local key, window, used, reset = keys[n], args[2 * n + 1], counted[n + 1], 0
    if used > 0 then
      local newest, lost
      newest, used, lost = look_closely(n, used)
      local cutoff = math.max(now, newest) - window
      reset = newest - cutoff
      if lost then call('PEXPIREAT', key, format('%d', newest + window + 1000)) end
      if n == i then
        local rank = used - args[2 * n] -- it fits once the live entry of this rank (0 is the oldest) leaves
        if rank < 0 then return end
        if rank < used then
          local first = call('ZRANGE', key, format('(%d', cutoff), '+inf', 'BYSCORE',
            'LIMIT', format('%d', rank), '1', 'WITHSCORES')
          out[2] = first[2] - cutoff
        end
      end
    end
    out[2 * n + 1], out[2 * n + 2] = used, reset
  end
  return out
end

local out = {0}
for i = 1, #keys do
  local used = call('ZCOUNT', keys[i], format('(%d', now - args[2 * i + 1]), '+inf')
  out[i + 1] = used
  if used - args[2 * i] >= 0 then
    local refused = refuse(i, out)
    if refused then return refused end
  end
end

local score = {}
for i = 1, #keys do
  if out[i + 1] > 0 then
    local key, window = keys[i], args[2 * i + 1]
    if call('PEXPIREAT', key, format('%d', now + window + 1000), 'GT') == 0 then
      local newest, used = look_closely(i, out[i + 1])
      local at = math.max(now, newest)
      call('PEXPIREAT', key, format('%d', at + window + 1000))
      score[i], out[i + 1] = format('%d', at), used
    end
  end
end

local now_text, member = format('%d', now), args[1]
for i = 1, #keys do
  local key, used = keys[i], out[i + 1]
  -- A member that is there already (another caller's, against all odds) must not swallow this unit.
  while call('ZADD', key, 'NX', score[i] or now_text, member) == 0 do member = member .. '+' end
  if used == 0 then
    local expires = format('%d', now + args[2 * i + 1] + 1000)
    if call('PEXPIREAT', key, expires, 'NX') == 0 then
      call('UNLINK', key)
      call('ZADD', key, now_text, member)
      call('PEXPIREAT', key, expires)
    end
  elseif micros % 8 == 0 then
    local expired = call('ZCARD', key) - used - 1
    if expired > 0 then call('ZREMRANGEBYRANK', key, '0', format('%d', math.min(expired, TRIM) - 1)) end
  end
  out[i + 1] = used + 1
end
return out
