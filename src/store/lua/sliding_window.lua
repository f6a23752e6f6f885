-- Sliding-window log: a sorted set, one member a unit, score = ms. The C++ twin is
-- src/algorithm/sliding_window.h; one commit changes both.
--
-- A look costs at most four commands, whatever the length of the log, and a charge drops at most TRIM
-- expired entries: a log that expires at once never stalls the server. What is left over is not
-- counted, and goes with the next charges.
local TRIM = 256

local function look_sliding_window(key, line)
  local newest = tonumber(redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2])
  line.now = now_ms
  if not newest then return end
  if newest > now_ms then line.now = newest end -- time stepped back
  local cutoff = line.now - line.window
  if newest <= cutoff then -- all of it is out
    line.stale = true
    return
  end
  line.reset = newest - cutoff
  line.used = redis.call('ZCOUNT', key, '(' .. cutoff, '+inf')
  line.expired = redis.call('ZCARD', key) - line.used
  if line.used + line.cost > line.units and line.cost <= line.units then
    -- It fits once the live entry of this rank (0 is the oldest) has left the window.
    local rank = line.expired + line.used - line.units + line.cost - 1
    line.retry = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')[2] - cutoff
  end
end

local function charge_sliding_window(key, line)
  if line.stale then
    redis.call('UNLINK', key)
  elseif line.expired and line.expired > 0 then
    redis.call('ZREMRANGEBYRANK', key, 0, math.min(line.expired, TRIM) - 1)
  end
  -- Members are unique: the caller's number counted up. One that is there already (another caller's,
  -- against all odds) must not swallow this unit.
  local number = first_number
  for _ = 1, line.cost do
    while redis.call('ZADD', key, 'NX', line.now, caller .. struct.pack('>I6', number)) == 0 do
      number = number + 1
    end
    number = number + 1
  end
  redis.call('PEXPIRE', key, line.window + 1000)
  line.used = line.used + line.cost
  line.reset = line.window
end

-- A refused check adds nothing and moves no TTL; it gives back one that was lost.
local function heal_sliding_window(key, line)
  if line.used > 0 and redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, line.window + 1000)
  end
end
