-- The load of bench/http_cases.py: `allow` has 200,000 clients ask in turn, `reject` one. The requests
-- are made before the clock starts. Other threads' counts do not matter: wrk runs with one.
local requests, at, refused = {}, 0, 0

function init(args)
  local clients = args[1] == 'allow' and 200000 or 1
  for n = 1, clients do
    requests[n] = wrk.format('GET', '/api/search?q=test', {['X-Client-Id'] = string.format('%s_%d', args[1], n)})
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
