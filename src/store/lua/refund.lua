-- Gives back what the receipt says, else the oldest units, and tells how the keys stand after it.
local lines = {}
for i = 1, #KEYS do
  local line = look(KEYS[i])
  if line.stamp ~= '-' then
    line.algorithm.refund(KEYS[i], line, tonumber(line.stamp))
    look_again(KEYS[i], line)
  end
  line.fits = true
  lines[i] = line
end
return reply(lines, 0)
