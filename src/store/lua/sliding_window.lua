-- Sliding-window log: a sorted set, one member a unit, score = ms. The C++ twin is
-- src/algorithm/sliding_window.h; one commit changes both.
--
-- A look costs at most four commands, whatever the length of the log, and a charge drops at most TRIM
-- expired entries: a log that expires at once never stalls the server. What is left over is not
-- counted, and goes with the next charges.
local TRIM = 512 -- more than a call adds
local sliding_window = {}

-- False for a log without a live entry. Fills in what both kinds of logs need.
local function look_at_log(key, line)
  local newest = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  line.newest, line.now, line.expired = newest[1], now_ms, 0
  if not line.newest then return end
  line.score = check_whole(tonumber(newest[2]))
  if line.score > now_ms then line.now = line.score end -- time stepped back
  line.cutoff = line.now - line.window
  if line.score <= line.cutoff then -- all of it is out
    line.stale = true
    return
  end
  line.reset = (line.score - line.cutoff) * 1000
  line.live = redis.call('ZCOUNT', key, '(' .. line.cutoff, '+inf')
  line.expired = redis.call('ZCARD', key) - line.live
  return true
end

-- Before a log is added to.
local function trim_log(key, line)
  if line.stale then
    redis.call('UNLINK', key)
  elseif line.expired > 0 then
    redis.call('ZREMRANGEBYRANK', key, 0, math.min(line.expired, TRIM) - 1)
  end
end

-- The expiry is that of the newest entry and a second: take_logs.lua reads it as such.
local function expire_log(key, line, newest)
  redis.call('PEXPIREAT', key, newest + line.window + 1000)
end

-- A refused check adds nothing and moves no TTL; it gives back one that was lost.
local function heal_log(key, line)
  if line.used > 0 and redis.call('PTTL', key) == -1 then expire_log(key, line, line.score) end
end

function sliding_window.look(key, line)
  if not look_at_log(key, line) then return end
  line.used = line.live
  if line.used + line.cost > line.units and line.cost <= line.units then
    -- It fits once the live entry of this rank (0 is the oldest) has left the window.
    local rank = line.expired + line.used - line.units + line.cost - 1
    line.retry = (redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')[2] - line.cutoff) * 1000
  end
end

function sliding_window.charge(key, line, times)
  trim_log(key, line)
  -- Members are unique: the caller's number counted up. One that is there already (another caller's,
  -- against all odds) must not swallow this unit.
  local number = first_number
  for _ = 1, line.cost * times do
    while redis.call('ZADD', key, 'NX', line.now, caller .. struct.pack('>I6', number)) == 0 do
      number = number + 1
    end
    number = number + 1
  end
  expire_log(key, line, line.now)
  line.used = line.used + line.cost * times
  line.reset = line.window * 1000
end

sliding_window.heal = heal_log

-- The members say themselves whose they are.
function sliding_window.stamp() return 0 end

function sliding_window.refund(key, line, stamp)
  if line.used == 0 then return end
  if stamp then
    for number = first_number, first_number + line.cost - 1 do
      redis.call('ZREM', key, caller .. struct.pack('>I6', number))
    end
  else
    local last = line.expired + math.min(line.cost, line.used) - 1
    redis.call('ZREMRANGEBYRANK', key, line.expired, last)
  end
  local newest = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2]
  if newest then expire_log(key, line, newest) end
end

