-- Names the commands that this user may not run, of all that the scripts use. It runs when brim has signed in,
-- without keys. What it calls on its key changes nothing, there or not: every writing command is given nothing to
-- write, or an argument that it refuses. A server that takes no writes refuses it up front, as it does the others.
--
-- The texts of denials are those of Redis 7.0, and of later ones and Valkey. One that is not known here is found
-- by the first check that needs the right.
local KEY = 'ratelimit:brim-self-test'
local missing = {}
local function try(...)
  local reply = redis.pcall(...)
  local text = type(reply) == 'table' and reply.err
  if text and (text:find("can't run this command", 1, true) or text:find('no permissions to run', 1, true)) then
    missing[#missing + 1] = string.lower((...))
  end
end
try('TIME')
try('ZADD', KEY, 'XX', 0, 'x')
try('ZCARD', KEY)
try('ZCOUNT', KEY, 0, 0)
try('ZRANGE', KEY, 0, 0)
try('ZREM', KEY, '')
try('ZREMRANGEBYRANK', KEY, 1, 0)
try('GET', KEY)
try('SET', KEY, '', 'XX', 'KEEPTTL', 'EX', 'x')
try('INCRBY', KEY, 'x')
try('PTTL', KEY)
try('PEXPIRE', KEY, 'x')
try('PEXPIREAT', KEY, 'x')
try('PEXPIRETIME', KEY)
try('UNLINK', KEY .. ':nothing')
return missing
