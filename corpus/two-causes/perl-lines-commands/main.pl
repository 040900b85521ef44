# Writes a line for each of 150000 items, and asks expr(1) to add up each 1000th.
use strict;
use warnings;
use IO::Handle;

STDOUT->autoflush(1) if $ENV{FIRST};
my ($sum, $value) = (0, 1);
for my $item (1 .. 150000) {
    $value = ($value * 75 + $item) % 65537;
    if ($item % 1000 == 0) {
        $sum = $ENV{SECOND} ? `expr $sum + $value` + 0 : $sum + $value;
    }
    printf "item %06d has value %05d and sum %d\n", $item, $value, $sum;
}
