-- Fixed window: a counter whose TTL is the rest of the window. The C++ twin is
-- src/algorithm/fixed_window.cc; one commit changes both.
--
-- Counter and TTL are set in one step. A counter found without a TTL, or with one longer than the
-- window (the limit was shortened, the server's clock stepped back), gets the window's.
local fixed_window = {}

-- Of a window that begins now, or, aligned, of the one that runs now.
local function fresh_ttl(line)
  return line.aligned and line.window - math.fmod(now_ms, line.window) or line.window
end

function fixed_window.look(key, line)
  local value = redis.call('GET', key)
  if not value then return end
  local ttl = redis.call('PTTL', key)
  if ttl == 0 then return end -- over in this very millisecond
  if #value > 15 or not value:find('^%d+$') then foreign() end -- INCRBY must not fail later
  line.used = tonumber(value)
  if ttl < 0 or ttl > line.window then
    ttl = ttl < 0 and fresh_ttl(line) or line.window
    line.healed_ttl = ttl
  end
  if line.used == 0 then return end
  line.reset = ttl * 1000
  if line.used + line.cost > line.units then line.retry = line.reset end
end

function fixed_window.heal(key, line)
  if line.healed_ttl then redis.call('PEXPIRE', key, line.healed_ttl) end
end

function fixed_window.charge(key, line, times)
  local cost = line.cost * times
  if line.used == 0 then
    local ttl = fresh_ttl(line)
    redis.call('SET', key, cost, 'PX', ttl)
    line.reset = ttl * 1000
  else
    redis.call('INCRBY', key, cost)
    fixed_window.heal(key, line)
  end
  line.used = line.used + cost
  if not line.fits then line.retry = line.reset end
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

