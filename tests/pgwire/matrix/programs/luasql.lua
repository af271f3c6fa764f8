-- LuaSQL: text alone, without parameters.
local host, port, user, database = table.unpack(arg)
local env = require("luasql.postgres").postgres()
local c = assert(env:connect(
  ("host=%s port=%s user=%s dbname=%s sslmode=disable"):format(host, port, user, database)))
local function shown(v) return v == nil and "\\N" or (tostring(v):gsub("\n", "\\n")) end
for line in io.lines() do
  local words = {}
  for word in (line .. "\t"):gmatch("([^\t]*)\t") do words[#words + 1] = word end
  local name, sql = words[1], words[2]
  sql = sql:gsub("%$(%d)", function(n)
    local g = words[tonumber(n) + 2]
    if g == nil then return nil end
    local text = g:sub(3)
    return g:sub(1, 1) == "t" and "'" .. text:gsub("'", "''") .. "'" or text
  end)
  print("== " .. name)
  local found, message = c:execute(sql)
  if not found then print("!! refused")
  elseif type(found) == "userdata" then
    local names, types = found:getcolnames(), found:getcoltypes()
    print("-- " .. table.concat(names, "|") .. " of " .. table.concat(types, "|"))
    local row = found:fetch({}, "n")
    while row do
      local out = {}
      for i = 1, #names do out[i] = shown(row[i]) end
      print(table.concat(out, "|"))
      row = found:fetch({}, "n")
    end
    found:close()
  end
end
