-- Take: all lines are charged, or none. The first enforced line that does not fit refuses; no key behind it
-- is touched. A shadow line that does not fit is not charged and disturbs nobody. Charge: every line is
-- charged, past its limit too.
local lines, refused = {}, 0
for i = 1, #KEYS do
  lines[i] = look(KEYS[i])
  if operation == 'c' then lines[i].fits = true end
  if lines[i].enforced and not lines[i].fits then
    refused = i
    break
  end
end
for i, line in ipairs(lines) do
  if line.all or (line.fits and refused == 0) then
    line.algorithm.charge(KEYS[i], line)
    if with_receipt and refused == 0 then line.stamp = line.algorithm.stamp(KEYS[i], line) end
  else
    line.algorithm.heal(KEYS[i], line)
  end
end
return reply(lines, refused)
