-- Sliding-window log of costs: a sorted set, one member a call, score = ms. The C++ twin is
-- src/algorithm/weighted_window.h; one commit changes both. Shares look_at_log and others with
-- sliding_window.lua.
--
-- A member is the running sum of costs up to it (7 bytes) and its own cost (4 bytes), big-endian: unique,
-- and in order within one score. So what the window holds is a difference of two sums. Sums wrap at WRAP.
local WRAP = 4503599627370496 -- 2^52
local weighted_window = {}

local function unpack_cost(member)
  if #member ~= 11 then foreign() end
  return struct.unpack('>I7I4', member)
end
local function sum_at(key, rank)
  return (unpack_cost(redis.call('ZRANGE', key, rank, rank)[1]))
end
local function difference(newer, older)
  return newer >= older and newer - older or newer - older + WRAP
end

function weighted_window.look(key, line)
  line.sum = 0
  if not look_at_log(key, line) then return end
  line.sum = unpack_cost(line.newest)
  local oldest, cost = unpack_cost(redis.call('ZRANGE', key, line.expired, line.expired)[1])
  line.used = difference(line.sum, oldest) + cost
  if line.used + line.cost > line.units and line.cost <= line.units then
    -- The first entry whose leaving, with all older ones, makes room.
    local first, last = line.expired, line.expired + line.live - 1
    while first < last do
      local middle = math.floor((first + last) / 2)
      if difference(line.sum, sum_at(key, middle)) + line.cost <= line.units then
        last = middle
      else
        first = middle + 1
      end
    end
    line.retry = (redis.call('ZRANGE', key, first, first, 'WITHSCORES')[2] - line.cutoff) * 1000
  end
end

function weighted_window.charge(key, line, times)
  trim_log(key, line)
  local sum, score = line.sum, line.now
  for _ = 1, times do
    sum = sum + line.cost
    if sum >= WRAP then -- in order all the same: once in 2^52 units an entry is a millisecond late
      sum, score = sum - WRAP, line.now + 1
    end
    redis.call('ZADD', key, score, struct.pack('>I7I4', sum, line.cost))
  end
  expire_log(key, line, score)
  line.used = line.used + line.cost * times
  line.reset = line.window * 1000
end

weighted_window.heal = heal_log

function weighted_window.stamp() return 0 end

-- The oldest units first, with or without a receipt.
function weighted_window.refund(key, line)
  local rest = math.min(line.cost, line.used)
  while rest > 0 do
    local entry = redis.call('ZRANGE', key, line.expired, line.expired, 'WITHSCORES')
    local sum, cost = unpack_cost(entry[1])
    if cost > rest then -- added first: a set that runs empty loses its TTL
      redis.call('ZADD', key, entry[2], struct.pack('>I7I4', sum, cost - rest))
    end
    redis.call('ZREM', key, entry[1])
    rest = rest - math.min(rest, cost)
  end
end

