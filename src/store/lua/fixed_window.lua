-- Fixed window: a counter whose TTL is the rest of the window. The C++ twin is
-- src/algorithm/fixed_window.cc; one commit changes both.
--
-- Counter and TTL are set in one step. A counter found without a TTL, or with one longer than the
-- window (the limit was shortened, the server's clock stepped back), gets the window's.

local function look_fixed_window(key, line)
  local value = redis.call('GET', key)
  if not value then return end
  local ttl = redis.call('PTTL', key)
  if ttl == 0 then return end -- over in this very millisecond
  line.used = tonumber(value) or error({err = 'WRONGTYPE the key holds no counter'})
  if ttl < 0 or ttl > line.window then
    line.heal, ttl = true, line.window
  end
  if line.used > 0 then line.reset, line.retry = ttl, ttl end
end

local function charge_fixed_window(key, line)
  if line.used == 0 then
    redis.call('SET', key, line.cost, 'PX', line.window)
    line.reset, line.retry = line.window, line.window
  else
    redis.call('INCRBY', key, line.cost)
    if line.heal then redis.call('PEXPIRE', key, line.window) end
  end
  line.used = line.used + line.cost
end

local function heal_fixed_window(key, line)
  if line.heal then redis.call('PEXPIRE', key, line.window) end
end
