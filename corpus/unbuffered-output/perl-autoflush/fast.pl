# Writes a table of 40000 rows of five quoted fields to a file.
use strict;
use warnings;

open my $out, '>', 'table.csv' or die "table.csv: $!";
my $total = 0;
for my $row (1 .. 40000) {
    my @fields = ($row, $row * 7919 % 10007, $row % 12, "item$row", $row % 2 ? 'yes' : 'no');
    $total += $fields[1];
    print $out '"', $_, '";' for @fields;
    print $out "\n";
}
close $out or die "table.csv: $!";
print "$total\n";
