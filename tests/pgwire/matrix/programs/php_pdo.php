<?php
// PDO: prepared at the server, and PDO's facts of columns.
[, $host, $port, $user, $database] = $argv;
$c = new PDO("pgsql:host=$host;port=$port;dbname=$database;sslmode=disable", $user, '');
$c->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
function shown($v) { if (is_bool($v)) $v = $v ? 'true' : 'false';
  if (is_resource($v)) $v = stream_get_contents($v);
  return $v === null ? '\N' : str_replace("\n", '\n', (string)$v); }
while (($line = fgets(STDIN)) !== false) {
  $given = explode("\t", rtrim($line, "\n"));
  [$name, $sql] = array_splice($given, 0, 2);
  echo "== $name\n";
  try {
    if ($given) {
      $s = $c->prepare(preg_replace('/\$\d/', '?', $sql));
      foreach ($given as $i => $g)
        $s->bindValue($i + 1, substr($g, 2), $g[0] == 'i' ? PDO::PARAM_INT : PDO::PARAM_STR);
      $s->execute();
    } else $s = $c->query($sql);
    $names = [];
    for ($i = 0; $i < $s->columnCount(); $i++) {
      $facts = $s->getColumnMeta($i);
      $names[] = $facts['name'] . ' ' . $facts['native_type'];
    }
    if ($names) echo '-- ' . implode('|', $names) . "\n";
    while ($names && $row = $s->fetch(PDO::FETCH_NUM)) echo implode('|', array_map('shown', $row)) . "\n";
  } catch (PDOException $e) { echo "!! {$e->getCode()}\n"; }
}
