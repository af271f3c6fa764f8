# tdbc::postgres: prepared statements, and tdbc's questions of the catalogue.
package require tdbc::postgres
fconfigure stdout -encoding utf-8; fconfigure stdin -encoding utf-8
lassign $argv host port user database
tdbc::postgres::connection create db -host $host -port $port -user $user -database $database -sslmode disable
proc shown {row columns} {
  string map [list \n \\n] [join [lmap c $columns {expr {[dict exists $row $c] ? [dict get $row $c] : "\\N"}}] |]
}
proc tried {name code} {
  puts "== $name"
  if {[catch {uplevel 1 $code} message options]} {
    puts "!! [expr {[lindex [dict get $options -errorcode] 0] eq {TDBC} ? [lindex [dict get $options -errorcode] 2] : $message}]"
  }
}
while {[gets stdin line] >= 0} {
  set given [lassign [split $line \t] name sql]
  # Its tokenizer takes x::type for a variable, so that such statements are not prepared by it.
  tried $name {
    regsub -all {::} $sql {\\::} sql
    regsub -all {\$(\d)} $sql {:p\1} sql
    set bound {}
    set n 0
    foreach g $given { dict set bound p[incr n] [string range $g 2 end] }
    set s [db prepare $sql]
    set found [$s execute $bound]
    set columns [$found columns]
    if {[llength $columns]} { puts "-- [join $columns |]" }
    if {[llength $columns]} { while {[$found nextdict row]} { puts [shown $row $columns] } }
    $s close
  }
}
tried "own: tables" { puts [lsort [dict keys [db tables]]] }
foreach table {regions t} {
  tried "own: columns of $table" {
    set columns [db columns $table]
    foreach column [lsort [dict keys $columns]] {
      puts "$column [dict get $columns $column nullable]"
    }
  }
  tried "own: keys of $table" { puts [lmap k [db primarykeys $table] {dict get $k columnName}] }
}
tried "own: foreign keys" {
  foreach key [db foreignkeys -foreign orders] {
    puts "[dict get $key foreignTable] [dict get $key foreignColumn] [dict get $key primaryTable] [dict get $key primaryColumn]"
  }
}
