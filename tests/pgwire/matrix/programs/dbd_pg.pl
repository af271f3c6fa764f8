# DBD::Pg: bound parameters, and what DBI asks of the catalogue.
use strict; use warnings; use DBI;
binmode STDOUT, ":utf8"; binmode STDIN, ":utf8";
my ($host, $port, $user, $database) = @ARGV;
my $dbh = DBI->connect("dbi:Pg:host=$host;port=$port;dbname=$database;sslmode=disable", $user, "",
  { RaiseError => 1, PrintError => 0, PrintWarn => 0, pg_enable_utf8 => 1 });
sub shown { my $v = shift; return '\N' unless defined $v;
  $v = '{' . join(',', map { shown($_) } @$v) . '}' if ref $v;
  $v =~ s/\n/\\n/g; return $v }
sub rows { my ($sth, @names) = @_;
  my @at = @names ? @names : @{ $sth->{NAME} };
  print "-- ", join('|', @at), "\n";
  if (@names) { while (my $row = $sth->fetchrow_hashref) {
    print join('|', map { shown($row->{$_}) } @names), "\n" } }
  else { while (my $row = $sth->fetchrow_arrayref) { print join('|', map { shown($_) } @$row), "\n" } } }
sub tried { my ($name, $code) = @_; print "== $name\n";
  eval { $code->(); 1 } or print "!! ", ($DBI::state || "other: $@"), "\n" }
while (my $line = <STDIN>) {
  chomp $line; my ($name, $sql, @given) = split /\t/, $line, -1;
  $sql =~ s/\$\d/?/g if @given;
  tried($name, sub { my $sth = $dbh->prepare($sql);
    $sth->execute(map { substr($_, 2) } @given); rows($sth) if $sth->{NUM_OF_FIELDS} });
}
tried("own: tables", sub { rows($dbh->table_info(undef, "public", "%", "TABLE"),
  qw(TABLE_SCHEM TABLE_NAME TABLE_TYPE)) });
tried("own: columns", sub { rows($dbh->column_info(undef, "public", "orders", "%"),
  qw(COLUMN_NAME TYPE_NAME COLUMN_SIZE NULLABLE ORDINAL_POSITION pg_type)) });
tried("own: primary keys", sub { my $found = $dbh->primary_key_info(undef, "public", "regions");
  rows($found, qw(TABLE_NAME COLUMN_NAME KEY_SEQ PK_NAME)) });
tried("own: foreign keys", sub {
  my $found = $dbh->foreign_key_info(undef, "public", "regions", undef, "public", "orders");
  rows($found, qw(UK_TABLE_NAME UK_COLUMN_NAME FK_TABLE_NAME FK_COLUMN_NAME FK_NAME)) });
tried("own: indexes", sub { rows($dbh->statistics_info(undef, "public", "regions", 1, 1),
  qw(TABLE_NAME INDEX_NAME TYPE COLUMN_NAME)) });
tried("own: types", sub { my $all = $dbh->type_info_all; print scalar(@$all) > 10, "\n" });
tried("own: ping", sub { print $dbh->ping > 0, "\n" });
$dbh->disconnect;
