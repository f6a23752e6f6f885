local ALGORITHMS = {
  sliding_window = sliding_window,
  weighted_window = weighted_window,
  fixed_window = fixed_window,
  token_bucket = token_bucket,
  sliding_window_counter = sliding_window_counter,
}

local read_up_to = 3 -- of ARGV
local function read()
  read_up_to = read_up_to + 1
  return ARGV[read_up_to]
end

-- The next line: algorithm, units (of a token bucket: burst), window in ms, cost, then three letters:
-- 'e'nforced or 's'hadow; 'a'll calls count or '-'; a'l'igned or '-'. A token bucket adds interval and
-- ticks a us; a refund with a receipt, the stamp ('-' if the line was not charged).
local function read_line()
  local line = {
    algorithm = ALGORITHMS[read()],
    units = tonumber(read()), window = tonumber(read()), cost = tonumber(read()),
  }
  local flags = read()
  line.enforced, line.all, line.aligned =
    flags:sub(1, 1) == 'e', flags:sub(2, 2) == 'a', flags:sub(3, 3) == 'l'
  if line.algorithm == token_bucket then
    line.interval, line.ticks = tonumber(read()), tonumber(read())
  end
  if operation == 'r' and with_receipt then line.stamp = read() end
  return line
end

-- A line as it stands now: `used`, and in us `reset` (until the key is full again)
-- and `retry` (until the cost fits, if it can and does not fit now).
local function look_again(key, line)
  line.used, line.retry, line.reset, line.stale = 0, 0, 0, nil
  line.algorithm.look(key, line)
  line.fits = line.cost <= line.units and line.retry == 0
end
local function look(key)
  local line = read_line()
  look_again(key, line)
  return line
end

local function remaining_of(line) return line.remaining or math.max(0, line.units - line.used) end

-- What the caller reads: the line that refused (0: none), then for each line that was looked at whether the
-- cost fits (0), does not fit now (1) or never (2), units used and remaining, retry and reset in us,
-- and, if a receipt is wanted, its stamp (-1: not charged), or, of merged takes, a token bucket's debt.
local function reply(lines, refused)
  local out = {refused}
  for _, line in ipairs(lines) do
    local n = #out
    out[n + 1] = line.fits and 0 or line.cost <= line.units and 1 or 2
    out[n + 2] = line.used
    out[n + 3] = remaining_of(line)
    out[n + 4] = line.fits and 0 or line.retry
    out[n + 5] = line.reset
    if merged then
      out[n + 6] = line.debt or 0
    elseif with_receipt and operation ~= 'r' then
      out[n + 6] = line.stamp or -1
    end
  end
  return out
end

