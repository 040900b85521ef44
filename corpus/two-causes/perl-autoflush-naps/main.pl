# Writes a table of 30000 rows of five quoted fields to a file; rests 5 ms after each 600 rows.
use strict;
use warnings;
use IO::Handle;

open my $out, '>', 'table.csv' or die "table.csv: $!";
$out->autoflush(1) if $ENV{FIRST};
my $total = 0;
for my $row (1 .. 30000) {
    my @fields = ($row, $row * 7919 % 10007, $row % 12, "item$row", $row % 2 ? 'yes' : 'no');
    $total += $fields[1];
    print $out '"', $_, '";' for @fields;
    print $out "\n";
    select undef, undef, undef, 0.005 if $ENV{SECOND} && $row % 600 == 0;
}
close $out or die "table.csv: $!";
print "$total\n";
