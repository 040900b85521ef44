# Loads 400 plugins and lets each work on a number. Sites may put plugins of their own before ours.
use strict;
use warnings;

my $library = $ARGV[0];
unshift @INC, (map { sprintf '%s/site%03d/lib', $library, $_ } 0 .. 249), "$library/plugins";
my $total = 0;
for my $number (0 .. 399) {
    my $name = sprintf 'P%03d', $number;
    require "Plugin/$name.pm";
    my $scale = "Plugin::$name"->can('scale');
    $total = ($total + $scale->($_)) % 1000003 for 1 .. 500;
}
print "$total\n";
