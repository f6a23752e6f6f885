-- Put between the first line of a shipped script and the rest, in tests alone: the script then lives in
-- the test's time. TIME is what the hash brim-test says; TTLs are kept there too, and the real ones are an
-- hour longer, so that no key goes before the test's clock says so (the test deletes those that are due).
local server = redis
local virtual_now = tonumber(server.call('HGET', 'brim-test', 'now'))
local redis = {
  call = function(command, key, ...)
    if command == 'TIME' then
      return {tostring(math.floor(virtual_now / 1000000)), tostring(virtual_now % 1000000)}
    end
    local now_ms = math.floor(virtual_now / 1000)
    local function expires() return server.call('HGET', 'brim-test', 'ttl:' .. key) end
    local function expire_after(ttl)
      server.call('HSET', 'brim-test', 'ttl:' .. key, now_ms + ttl)
      return server.call('PEXPIRE', key, ttl + 3600000)
    end
    if command == 'PTTL' then
      if server.call('EXISTS', key) == 0 then return -2 end
      local at = expires()
      return at and at - now_ms or -1
    elseif command == 'PEXPIRETIME' then
      if server.call('EXISTS', key) == 0 then return -2 end
      return tonumber(expires() or -1)
    elseif command == 'PEXPIREAT' then
      local to, condition = ...
      local at = expires()
      if condition == 'NX' and at then return 0 end
      if condition == 'GT' and not (at and tonumber(to) > tonumber(at)) then return 0 end
      return expire_after(to - now_ms)
    elseif command == 'UNLINK' then
      server.call('HDEL', 'brim-test', 'ttl:' .. key)
    elseif command == 'PEXPIRE' then
      return expire_after((...))
    elseif command == 'SET' then
      local value, _, ttl = ...
      server.call('SET', key, value)
      return expire_after(ttl)
    end
    return server.call(command, key, ...)
  end,
}
