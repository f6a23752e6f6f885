-- Token bucket: a debt in ticks that time pays off. The C++ twin is src/algorithm/token_bucket.cc, and its
-- header explains it; one commit changes both.
--
-- State: time of the debt (us), debt, interval, ticks a us: four big-endian numbers of 8 bytes. `units`
-- is the burst.
local MAX_DEBT = 9007199254740991 -- 2^53 - 1
local token_bucket = {}

-- ceil(value * by / over) for value < over, bit by bit: the product does not fit into a double.
local function scale_up(value, by, over)
  local quotient, rest, bit = 0, 0, 1
  while bit <= by do bit = bit * 2 end
  while bit > 1 do
    bit = bit / 2
    quotient, rest = quotient * 2, rest * 2
    if by >= bit then by, rest = by - bit, rest + value end
    quotient, rest = quotient + divide(rest, over), math.fmod(rest, over)
  end
  return quotient + (rest > 0 and 1 or 0)
end

-- The same units as a debt at another interval, rounded up.
local function rescale(debt, from, to)
  local units = divide(debt, from)
  if units >= divide(MAX_DEBT, to) then return MAX_DEBT end
  return units * to + scale_up(math.fmod(debt, from), to, from)
end

local function describe(line)
  line.used = divide_up(line.debt, line.interval)
  line.remaining = divide(math.max(0, line.units * line.interval - line.debt), line.interval)
  line.reset = divide_up(line.debt, line.ticks)
  if line.cost <= line.units then
    local room = (line.units - line.cost) * line.interval
    line.retry = divide_up(math.max(0, line.debt - room), line.ticks)
  end
end

-- The TTL is a millisecond longer than the debt: it counts from the start of the server's millisecond.
local function store(key, line)
  if line.debt == 0 then return redis.call('UNLINK', key) end
  local state = struct.pack('>I8I8I8I8', line.now, line.debt, line.interval, line.ticks)
  local ttl = divide_up(divide_up(line.debt, line.ticks), 1000) + 1
  redis.call('SET', key, state, 'PX', ttl)
end

function token_bucket.look(key, line)
  line.now, line.debt = now_us, 0
  local state = redis.call('GET', key)
  if state then
    if #state ~= 32 then foreign() end
    local last, debt, interval, ticks = struct.unpack('>I8I8I8I8', state)
    check_whole(last)
    check_whole(debt)
    if check_whole(interval) == 0 or check_whole(ticks) == 0 then foreign() end
    if last > now_us then line.now = last end -- time stepped back
    local elapsed = line.now - last
    if elapsed <= divide(debt, ticks) then line.debt = math.max(0, debt - elapsed * ticks) end
    if interval ~= line.interval or ticks ~= line.ticks then
      line.changed = true
      line.debt = rescale(line.debt, interval, line.interval)
    end
  end
  describe(line)
end

function token_bucket.charge(key, line, times)
  local most, cost = MAX_DEBT, line.cost * times
  if not line.fits then most = math.max(line.debt, line.units * line.interval) end
  if cost > divide(most - line.debt, line.interval) then
    line.debt = most
  else
    line.debt = line.debt + cost * line.interval
  end
  store(key, line)
  describe(line)
end

function token_bucket.heal(key, line)
  if line.changed or (line.debt > 0 and redis.call('PTTL', key) == -1) then store(key, line) end
end

-- When the debt will be paid off.
function token_bucket.stamp(_, line) return line.now + divide(line.debt, line.ticks) end

function token_bucket.refund(key, line, stamp)
  if line.debt == 0 then return end
  local owed = line.debt
  if stamp then
    local left = math.max(0, stamp - line.now)
    if left <= divide(owed, line.ticks) then owed = left * line.ticks end
  end
  if line.cost > divide(owed, line.interval) then
    line.debt = line.debt - owed
  else
    line.debt = line.debt - line.cost * line.interval
  end
  store(key, line)
end

