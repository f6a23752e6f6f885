-- Looks at every line and writes nothing.
local lines, refused = {}, 0
for i = 1, #KEYS do
  lines[i] = look(KEYS[i])
  if refused == 0 and lines[i].enforced and not lines[i].fits then refused = i end
end
return reply(lines, refused)
