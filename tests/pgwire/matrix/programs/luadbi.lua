-- LuaDBI: prepared statements with parameters.
local host, port, user, database = table.unpack(arg)
local DBI = require("DBI")
local c = assert(DBI.Connect("PostgreSQL", database, user, "", host, port))
c:autocommit(true)
local function shown(v) return v == nil and "\\N" or (tostring(v):gsub("\n", "\\n")) end
for line in io.lines() do
  local words = {}
  for word in (line .. "\t"):gmatch("([^\t]*)\t") do words[#words + 1] = word end
  local name, sql, given = words[1], words[2], {}
  for i = 3, #words do
    local kind, text = words[i]:sub(1, 1), words[i]:sub(3)
    given[#given + 1] = kind == "i" and math.tointeger(text) or kind == "f" and tonumber(text) or text
  end
  if #given > 0 then sql = sql:gsub("%$%d", "?") end
  print("== " .. name)
  local ok, message = pcall(function()
    local s = assert(c:prepare(sql))
    assert(s:execute(table.unpack(given)))
    local names = s:columns()
    if #names > 0 then
      print("-- " .. table.concat(names, "|"))
      for row in s:rows() do
        local out = {}
        for i = 1, #names do out[i] = shown(row[i]) end
        print(table.concat(out, "|"))
      end
    end
    s:close()
  end)
  if not ok then print("!! refused") end
end
