-- All lines are charged, or none. The first enforced line that does not fit refuses; no key behind it is
-- touched. A shadow line that does not fit is not charged and disturbs nobody.
local lines, refused = {}, 0
for i = 1, #KEYS do
  lines[i] = look(i)
  if lines[i].enforced and not lines[i].fits then
    refused = i
    break
  end
end
for i, line in ipairs(lines) do
  if line.all or (line.fits and refused == 0) then
    line.algorithm[2](KEYS[i], line)
  else
    line.algorithm[3](KEYS[i], line)
  end
end
return reply(lines, refused)
