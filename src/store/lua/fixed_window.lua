-- Fixed window: a counter whose TTL is the rest of the window. The C++ twin is
-- src/algorithm/fixed_window.cc; one commit changes both.
--
-- Counter and TTL are set in one step. A counter found without a TTL, or with one longer than the
-- window (the limit was shortened, the server's clock stepped back), gets the window's.
local fixed_window = {}

function fixed_window.look(key, line)
  local value = redis.call('GET', key)
  if not value then return end
  local ttl = redis.call('PTTL', key)
  if ttl == 0 then return end -- over in this very millisecond
  line.used = tonumber(value) or foreign()
  if ttl < 0 or ttl > line.window then
    line.lost, ttl = true, line.window
  end
  if line.used == 0 then return end
  line.reset = ttl * 1000
  if line.used + line.cost > line.units then line.retry = line.reset end
end

function fixed_window.charge(key, line)
  if line.used == 0 then
    local ttl = line.window
    if line.aligned then ttl = ttl - math.fmod(now_ms, line.window) end
    redis.call('SET', key, line.cost, 'PX', ttl)
    line.reset = ttl * 1000
  else
    redis.call('INCRBY', key, line.cost)
    if line.lost then redis.call('PEXPIRE', key, line.window) end
  end
  line.used = line.used + line.cost
  if not line.fits then line.retry = line.reset end
end

function fixed_window.heal(key, line)
  if line.lost then redis.call('PEXPIRE', key, line.window) end
end

-- When the window ends.
function fixed_window.stamp(key) return redis.call('PEXPIRETIME', key) end

function fixed_window.refund(key, line, stamp)
  if line.used == 0 or (stamp and redis.call('PEXPIRETIME', key) ~= stamp) then return end
  if line.cost >= line.used then
    redis.call('UNLINK', key)
  else
    redis.call('INCRBY', key, -line.cost)
    fixed_window.heal(key, line)
  end
end

