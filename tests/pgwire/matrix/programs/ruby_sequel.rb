# Sequel: its own literals for parameters, and what it asks of the catalogue.
require "sequel"
$stdout.set_encoding("UTF-8"); $stdin.set_encoding("UTF-8")
host, port, user, database = ARGV
DB = Sequel.connect(adapter: "postgres", host: host, port: port.to_i, user: user, database: database,
                    sslmode: "disable")
DB.extension :pg_array
def shown(v)
  v = v.to_s("F") if v.is_a?(BigDecimal)
  v.nil? ? '\N' : v.to_s.gsub("\n", "\\n")
end
def value(text)
  case text[0] when "i" then text[2..].to_i when "f" then text[2..].to_f else text[2..] end
end
def tried(name)
  puts "== #{name}"
  yield
rescue Sequel::DatabaseError => e
  puts "!! #{e.wrapped_exception.result&.error_field(PG::PG_DIAG_SQLSTATE) || e.class}"
end
$stdin.each_line(chomp: true) do |line|
  name, sql, *given = line.split("\t", -1)
  tried(name) do
    found = given.empty? ? DB.fetch(sql) : DB.fetch(sql.gsub(/\$\d/, "?"), *given.map { |g| value(g) })
    found.each { |row| puts row.map { |k, v| "#{k}=#{shown(v)}" }.join("|") }
  end
end
tried("own: tables") { puts DB.tables.sort.join("|") }
%i[regions orders t].each do |table|
  tried("own: schema of #{table}") do
    DB.schema(table).each do |column, facts|
      puts [column, facts[:db_type], facts[:type], facts[:allow_null], facts[:primary_key]].join("|")
    end
  end
  tried("own: key of #{table}") { puts DB.primary_key(table).inspect }
  tried("own: foreign keys of #{table}") do
    DB.foreign_key_list(table).each do |key|
      puts [key[:name], key[:columns].join(","), key[:table], key[:key].inspect].join("|")
    end
  end
  tried("own: indexes of #{table}") { puts DB.indexes(table).inspect }
end
tried("own: dataset") { puts DB[:t].where(b: true).order(:id).select_map(:i).inspect }
tried("own: counted") { puts DB[:regions].where { region_id > 1 }.count }
tried("own: paged") { puts DB[:regions].order(:region_id).paged_each(rows_per_fetch: 2).map { |r| r[:name] }.inspect }
