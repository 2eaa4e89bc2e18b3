# Spins for so many seconds: two functions, three to one by CPU time. Prints the CPU seconds of each.
# In a package of their own: perl keeps functions of main without a symbol that the unwinder reads.
use strict;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

package Spin;

sub inner {
    my ($rounds) = @_;
    my $work = 0;
    for (my $i = 0; $i < $rounds; $i++) { $work += $i & 255 }
    return $work;
}

sub spin_much { return inner(3 * $_[0]) + 1 }

sub spin_little { return inner($_[0]) + 1 }

sub cpu { return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_PROCESS_CPUTIME_ID()) }

sub run {
    my ($seconds) = @_;
    my ($much, $little) = (0, 0);
    my $finish = Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) + $seconds;
    while (Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) < $finish) {
        my $start = cpu();
        spin_much(3000);
        my $between = cpu();
        spin_little(3000);
        $much += $between - $start;
        $little += cpu() - $between;
    }
    printf("spin_much %.6f\nspin_little %.6f\n", $much, $little);
}

run($ARGV[0]);
