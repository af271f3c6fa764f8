<?php
// PHP's pgsql: bound parameters, and pg_meta_data().
[, $host, $port, $user, $database] = $argv;
$c = pg_connect("host=$host port=$port user=$user dbname=$database sslmode=disable");
function shown($v) { return $v === null ? '\N' : str_replace("\n", '\n', (string)$v); }
while (($line = fgets(STDIN)) !== false) {
  $given = explode("\t", rtrim($line, "\n"));
  [$name, $sql] = array_splice($given, 0, 2);
  echo "== $name\n";
  $bound = array_map(fn($g) => substr($g, 2), $given);
  $sent = $bound ? pg_send_query_params($c, $sql, $bound) : pg_send_query($c, $sql);
  while ($r = pg_get_result($c)) {
    if ($state = pg_result_error_field($r, PGSQL_DIAG_SQLSTATE)) { echo "!! $state\n"; continue; }
    $n = pg_num_fields($r);
    $named = []; $types = [];
    for ($i = 0; $i < $n; $i++) { $named[] = pg_field_name($r, $i); $types[] = pg_field_type($r, $i); }
    if ($n) echo "-- " . implode('|', $named) . " of " . implode('|', $types) . "\n";
    while ($row = pg_fetch_row($r)) echo implode('|', array_map('shown', $row)) . "\n";
  }
}
foreach (['regions', 'orders', 't'] as $table) {
  echo "== own: meta data of $table\n";
  foreach (pg_meta_data($c, $table) as $column => $facts)
    echo "$column|{$facts['num']}|{$facts['type']}|{$facts['len']}|"
      . var_export($facts['not null'], true) . '|' . var_export($facts['has default'], true) . "\n";
}
