# Hands 15 jobs, each a length and a body, to a server that confirms each; the server is a child.
use strict;
use warnings;
use IO::Socket::INET;

my $listener = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => 0) or die $@;
my $child = fork // die "fork: $!";
if (!$child) {
    my $peer = $listener->accept;
    my ($head, $body);
    while (read $peer, $head, 4) {
        read $peer, $body, unpack 'N', $head;
        syswrite $peer, "done\n";
    }
    exit 0;
}
my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $listener->sockport) or die $@;
my $sum = 1;
for my $job (1 .. 15) {
    $sum = ($sum * 31 + $_) % 1000003 for 1 .. 60000;
    my $body = "job $job is $sum " x 10;
    syswrite $server, pack 'N', length $body;
    syswrite $server, $body;
    my $reply = <$server>;
}
close $server;
waitpid $child, 0;
print "$sum\n";
