-- Sliding-window counter: two aligned counters. The C++ twin is src/algorithm/sliding_window_counter.cc, and
-- its header explains it; one commit changes both.
--
-- State: start of the current window (ms), its count, the count of the window before: three big-endian
-- numbers of 8 bytes.
local sliding_window_counter = {}

local function describe(line)
  local left = line.window - (line.now - line.start)
  line.used = line.current + divide_up(line.previous * left, line.window)
  line.reset = 0
  if line.current > 0 then
    line.reset = (left + line.window) * 1000
  elseif line.previous > 0 then
    line.reset = left * 1000
  end
end

-- How far into its window the share of `previous` has fallen to `room`.
local function share_falls_to(line, room, previous)
  return line.window - math.min(line.window, divide(room * line.window, math.max(1, previous)))
end

local function store(key, line)
  if line.current == 0 and line.previous == 0 then return redis.call('UNLINK', key) end
  local state = struct.pack('>I8I8I8', line.start, line.current, line.previous)
  describe(line)
  redis.call('SET', key, state, 'PX', line.reset / 1000)
end

function sliding_window_counter.look(key, line)
  line.start, line.current, line.previous = now_ms - math.fmod(now_ms, line.window), 0, 0
  local state = redis.call('GET', key)
  if state then
    if #state ~= 24 then foreign() end
    local start, current, previous = struct.unpack('>I8I8I8', state)
    check_whole(start)
    check_whole((current + previous) * line.window)
    if line.start <= start then
      line.start, line.current, line.previous = start, current, previous
    elseif line.start == start + line.window then
      line.previous = current
    end
  end
  line.now = math.max(now_ms, line.start) -- time may have stepped back
  describe(line)
  if line.used + line.cost > line.units and line.cost <= line.units then
    local room, at = line.units - line.cost - line.current, nil
    if room >= 0 then
      at = line.start + share_falls_to(line, room, line.previous)
    else
      at = line.start + line.window
        + share_falls_to(line, line.units - line.cost, line.current)
    end
    line.retry = (at - line.now) * 1000
  end
end

function sliding_window_counter.charge(key, line, times)
  line.current = math.min(line.current + line.cost * times, divide(MAX_EXACT, line.window))
  store(key, line)
end

function sliding_window_counter.heal(key, line)
  if line.used > 0 and redis.call('PTTL', key) == -1 then store(key, line) end
end

-- Which window was charged.
function sliding_window_counter.stamp(_, line) return line.start end

function sliding_window_counter.refund(key, line, stamp)
  if stamp and stamp ~= line.start then return end
  local from_previous = stamp and 0 or math.min(line.cost, line.previous)
  line.previous = line.previous - from_previous
  line.current = line.current - math.min(line.cost - from_previous, line.current)
  store(key, line)
end

