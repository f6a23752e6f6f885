local ALGORITHMS = {
  sliding_window = {look_sliding_window, charge_sliding_window, heal_sliding_window},
  fixed_window = {look_fixed_window, charge_fixed_window, heal_fixed_window},
}

-- Line i as it stands before any charge: `used`, and in ms `reset` (until the key is full again) and
-- `retry` (until the cost fits, if it does not fit now).
local function look(i)
  local at = 5 * i - 2
  local line = {
    algorithm = ALGORITHMS[ARGV[at]],
    units = tonumber(ARGV[at + 1]),
    window = tonumber(ARGV[at + 2]),
    cost = tonumber(ARGV[at + 3]),
    enforced = ARGV[at + 4]:sub(1, 1) == 'e',
    all = ARGV[at + 4]:sub(2, 2) == 'a',
    used = 0, retry = 0, reset = 0,
  }
  line.algorithm[1](KEYS[i], line)
  line.fits = line.used + line.cost <= line.units
  return line
end

-- What the caller reads: the line that refused (0: none), then for each line that was looked at whether
-- the cost fits (0), does not fit now (1) or never (2), units used and remaining, retry and reset in us.
local function reply(lines, refused)
  local out = {refused}
  for _, line in ipairs(lines) do
    local n = #out
    out[n + 1] = line.fits and 0 or line.cost <= line.units and 1 or 2
    out[n + 2] = line.used
    out[n + 3] = math.max(0, line.units - line.used)
    out[n + 4] = line.fits and 0 or line.retry * 1000
    out[n + 5] = line.reset * 1000
  end
  return out
end

