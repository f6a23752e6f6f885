-- Takes, for the commonest shape alone: every line an enforced sliding-window log, cost 1, no receipt. The same
-- answers and the same state as take.lua with sliding_window.lua, at three commands a line.
--
-- KEYS: the keys, shortest window first. ARGV: a member that no one else makes, how many equal takes share this
-- call (at most 256), then units and window (ms) of each line.
-- Returns how many takes were admitted; if any, used of each line after them; if not all, the line that refused
-- the rest, retry, then used and reset of each line up to it. Times in ms.
--
-- What saves commands: a line is looked at by counting alone, as if time had not stepped back. If it had, `now`
-- would be the newest time of the log and fewer entries would count: what fits, fits all the same. And a log's
-- expiry is always the time of its newest entry + window + 1 s. So one that cannot be moved forward (GT) tells
-- of a newer entry, or that the expiry was lost, and the log itself is asked; and a log without a live entry
-- that has an expiry (NX) is one of expired entries, which goes as a whole. Others are dropped by one charge
-- in eight, and by merged ones. Numbers are passed on as text: the server takes long to format one.
local TRIM = 512 -- more than a call adds
local MAX_EXACT = 9007199254740992 -- 2^53
local keys, args, call, format = KEYS, ARGV, redis.call, string.format
local time = call('TIME')
local micros = tonumber(time[2])
local now = time[1] * 1000 + (micros - micros % 1000) / 1000
local member, takes = args[1], tonumber(args[2])
local used = {} -- units of each line

-- What most calls do without. It is made at need, by a function without upvalues: they cost each call, used
-- or not.
local function make_slow(keys, args, call, format, now, used, MAX_EXACT)
  local slow = {newest = {}, lost = {}} -- of the lines that were looked at closely: newest time, expiry lost

  -- REQUIRES: the log is not empty.
  function slow.look_closely(i)
    local window = args[2 * i + 2]
    local expires = call('PEXPIRETIME', keys[i])
    local newest = expires - window - 1000
    slow.newest[i], slow.lost[i] = newest, false
    if expires >= 0 and newest <= now then return newest end
    newest = tonumber(call('ZRANGE', keys[i], '-1', '-1', 'WITHSCORES')[2])
    if newest > MAX_EXACT or math.fmod(newest, 1) ~= 0 then
      error({err = 'WRONGTYPE the key holds no value of brim'})
    end
    if newest > now then used[i] = call('ZCOUNT', keys[i], format('(%d', newest - window), '+inf') end
    slow.newest[i], slow.lost[i] = newest, expires == -1
    return newest
  end

  function slow.expire(i, at) call('PEXPIREAT', keys[i], format('%d', at + args[2 * i + 2] + 1000)) end

  -- Appends the answer of line i, which is full.
  function slow.refuse(i, out)
    local size, retry = #out, 0
    for n = 1, i do
      local reset = 0
      if used[n] > 0 then
        local newest = slow.newest[n] or slow.look_closely(n)
        local cutoff = math.max(now, newest) - args[2 * n + 2]
        local rank = used[n] - args[2 * n + 1] -- a unit fits once the live entry of this rank (0: oldest) leaves
        reset = newest - cutoff
        if n == i and rank < used[n] then
          local first = call('ZRANGE', keys[n], format('(%d', cutoff), '+inf', 'BYSCORE',
            'LIMIT', format('%d', rank), '1', 'WITHSCORES')
          retry = first[2] - cutoff
        end
        if slow.lost[n] then slow.expire(n, newest) end
      end
      out[size + 2 * n + 1], out[size + 2 * n + 2] = used[n], reset
    end
    out[size + 1], out[size + 2] = i, retry
    return out
  end

  -- Members are made of `member`, which grows if one is there already (another caller's, against all odds):
  -- that must not swallow a unit.
  function slow.add(key, score, units, member)
    while units > 0 do
      local command = {'ZADD', key, 'NX'}
      for n = 1, units do
        command[2 * n + 2], command[2 * n + 3] = score, member .. string.char(n - 1)
      end
      units = units - call(unpack(command))
      member = member .. '+'
    end
  end
  return slow
end

local slow
local admitted = takes
for i = 1, #keys do
  used[i] = call('ZCOUNT', keys[i], format('(%d', now - args[2 * i + 2]), '+inf')
  if args[2 * i + 1] - used[i] < admitted then
    slow = slow or make_slow(keys, args, call, format, now, used, MAX_EXACT)
    if used[i] > 0 then slow.look_closely(i) end
    local room = args[2 * i + 1] - used[i]
    if room <= 0 then return slow.refuse(i, {0}) end
    admitted = math.min(admitted, room)
  end
end

local score -- of the lines whose time has stepped back
for i = 1, #keys do
  if used[i] > 0
    and call('PEXPIREAT', keys[i], format('%d', now + args[2 * i + 2] + 1000), 'GT') == 0 then
    slow = slow or make_slow(keys, args, call, format, now, used, MAX_EXACT)
    local at = math.max(now, slow.look_closely(i))
    slow.expire(i, at)
    score = score or {}
    score[i] = format('%d', at)
  end
end

if admitted > 1 then slow = slow or make_slow(keys, args, call, format, now, used, MAX_EXACT) end
local out, now_text = {admitted}, format('%d', now)
for i = 1, #keys do
  local key, at = keys[i], score and score[i] or now_text
  if admitted > 1 then
    slow.add(key, at, admitted, member)
  else
    while call('ZADD', key, 'NX', at, member) == 0 do member = member .. '+' end
  end
  if used[i] == 0 then
    local expires = format('%d', now + args[2 * i + 2] + 1000)
    if call('PEXPIREAT', key, expires, 'NX') == 0 then
      call('UNLINK', key)
      slow = slow or make_slow(keys, args, call, format, now, used, MAX_EXACT)
      slow.add(key, at, admitted, member)
      call('PEXPIREAT', key, expires)
    end
  elseif admitted > 1 or micros % 8 == 0 then
    local expired = math.min(call('ZCARD', key) - used[i] - admitted, TRIM)
    if expired > 0 then call('ZREMRANGEBYRANK', key, '0', format('%d', expired - 1)) end
  end
  used[i] = used[i] + admitted
  out[i + 1] = used[i]
end
if admitted == takes then return out end
slow.newest = {} -- those of before
for i = 1, #keys do
  if used[i] >= tonumber(args[2 * i + 1]) then return slow.refuse(i, out) end
end
