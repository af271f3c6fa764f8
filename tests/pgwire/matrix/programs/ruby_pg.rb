# Ruby's pg, with the type maps that it builds of pg_type.
require "pg"
$stdout.set_encoding("UTF-8"); $stdin.set_encoding("UTF-8")
host, port, user, database = ARGV
c = PG.connect(host: host, port: port, user: user, dbname: database, sslmode: "disable")
c.set_notice_processor { |_| }
c.type_map_for_results = PG::BasicTypeMapForResults.new(c)
c.type_map_for_queries = PG::BasicTypeMapForQueries.new(c)
def shown(v) = v.nil? ? '\N' : v.to_s.gsub("\n", "\\n")
def value(text)
  case text[0] when "i" then text[2..].to_i when "f" then text[2..].to_f else text[2..] end
end
$stdin.each_line(chomp: true) do |line|
  name, sql, *given = line.split("\t", -1)
  puts "== #{name}"
  begin
    found = given.empty? ? c.exec(sql) : c.exec_params(sql, given.map { |g| value(g) })
    puts "-- #{found.fields.join('|')}" unless found.fields.empty?
    found.each_row { |row| puts row.map { |v| shown(v) }.join("|") }
  rescue PG::Error => e
    puts "!! #{e.result&.error_field(PG::PG_DIAG_SQLSTATE) || e.class}"
  end
end
