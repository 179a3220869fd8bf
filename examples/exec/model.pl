# A density for gess in Perl: eight measurements, N(mu, sigma).
#
#   gess sample 'exec:perl model.pl'
use strict;
use warnings;
use IO::Handle;

my @y = (28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2);

sub log_density {
    my ($mu, $sigma) = @_;
    return '-inf' if $sigma <= 0;
    my $squares = 0;
    $squares += ($_ - $mu)**2 for @y;
    # exponential prior, mean 10
    return sprintf '%.17g', -@y * log($sigma) - 0.5 * $squares / $sigma**2 - $sigma / 10;
}

my $greeting = <STDIN>;              # gess 1 ?
print "ok 2 mu sigma(0,inf)\n";      # two parameters, their names, and bounds
STDOUT->flush;

while (my $n = <STDIN>) {            # a batch: its number of points, then a line per point
    for (1 .. $n) {
        print log_density(split ' ', scalar <STDIN>), "\n";
    }
    STDOUT->flush;
}
