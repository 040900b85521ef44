# Counts the words of a text that comes through a named pipe.
use strict;
use warnings;

open my $in, '<', $ARGV[0] or die "$ARGV[0]: $!";
my %count;
while (my $line = <$in>) {
    $count{$_}++ for split ' ', $line;
}
my @best = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$_ $count{$_}\n" for @best[0 .. 4];
