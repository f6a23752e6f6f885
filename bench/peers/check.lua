-- The load of bench/check_cases.py on /v1/check. `allow` has 200,000 subjects ask in turn, `reject` one, `batch` sends
-- batches of 100. The requests are made before the clock starts. LuaJIT hashes a long string by a few of its bytes: the
-- query, which brim ignores here, puts the number where it looks.
local requests, at = {}, 0
local headers = {['Content-Type'] = 'application/json'}

local function check(limit, name, n)
  return string.format('{"limits": ["%s"], "subject": "%s_%06d"}', limit, name, n)
end

function init(args)
  local kind, limit = args[1], args[2]
  for n = 1, ({allow = 200000, reject = 1, batch = 500})[kind] do
    local body = check(limit, kind, n)
    if kind == 'batch' then
      local checks = {}
      for i = 1, 100 do checks[i] = check(limit, kind, n * 100 + i) end
      body = '[' .. table.concat(checks, ', ') .. ']'
    end
    requests[n] = wrk.format('POST', '/v1/check?' .. string.format('%06d', n):rep(4), headers, body)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, others)
  print(string.format('requests: %d', summary.requests))
  print(string.format('refused: %d', summary.errors.status))
end
