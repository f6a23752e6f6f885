-- Take: all lines are charged, or none. The first enforced line that does not fit refuses; no key behind it
-- is touched. A shadow line that does not fit is not charged and disturbs nobody. Charge: every line is
-- charged, past its limit too.
--
-- Merged takes are equal, of enforced lines that count admitted calls alone: as many as fit are charged, one
-- after the other at one instant. Returns how many, then the reply of the last of them (empty if none), then
-- the one of those that were refused (empty if none).
local lines, refused = {}, 0
for i = 1, #KEYS do
  lines[i] = look(KEYS[i])
  if operation == 'c' then lines[i].fits = true end
  if lines[i].enforced and not lines[i].fits then
    refused = i
    break
  end
end
local admitted = refused == 0 and takes or 0
if takes > 1 then
  for _, line in ipairs(lines) do
    admitted = math.min(admitted, divide(remaining_of(line), line.cost))
  end
end
for i, line in ipairs(lines) do
  if line.all or (line.fits and refused == 0) then
    line.algorithm.charge(KEYS[i], line, math.max(1, admitted))
    if with_receipt and refused == 0 then line.stamp = line.algorithm.stamp(KEYS[i], line) end
  else
    line.algorithm.heal(KEYS[i], line)
  end
end
if not merged then return reply(lines, refused) end

local last = admitted > 0 and reply(lines, 0) or {}
if admitted == takes then return {admitted, last, {}} end
for i, line in ipairs(lines) do
  if admitted > 0 then look_again(KEYS[i], line) end
  if not line.fits then
    for n = i + 1, #lines do lines[n] = nil end
    return {admitted, last, reply(lines, i)}
  end
end
