# pgtcl: rows as lists.
package require Pgtcl
fconfigure stdout -encoding utf-8; fconfigure stdin -encoding utf-8
lassign $argv host port user database
set c [pg_connect -conninfo "host=$host port=$port user=$user dbname=$database sslmode=disable"]
proc shown {v} { string map [list \n \\n] $v }
while {[gets stdin line] >= 0} {
  set given [lassign [split $line \t] name sql]
  puts "== $name"
  set bound [lmap g $given {string range $g 2 end}]
  set r [pg_exec $c $sql {*}$bound]
  switch -- [pg_result $r -status] {
    PGRES_TUPLES_OK {
      puts "-- [join [pg_result $r -attributes] |] of [join [lmap a [pg_result $r -lAttributes] {lindex $a 1}] |]"
      for {set i 0} {$i < [pg_result $r -numTuples]} {incr i} {
        puts [join [lmap v [pg_result $r -getTuple $i] {shown $v}] |]
      }
    }
    PGRES_COMMAND_OK {}
    default { puts "!! [pg_result $r -error sqlstate]" }
  }
  pg_result $r -clear
}
pg_disconnect $c
