# Adds up the numbers of a ledger that is read in pieces of a given size.
#
# usage: main.pl FILE PIECE PASSES
use strict;
use warnings;

sub add_up {
    my ($piece) = @_;
    my $sum = 0;
    $sum += $_ for unpack 'C*', $piece;
    return $sum;
}

sub read_ledger {
    my ($path, $piece) = @_;
    my $sum = 0;
    open my $file, '<', $path or die "$path: $!\n";
    while (sysread $file, my $bytes, $piece) {
        $sum += add_up($bytes);
    }
    close $file;
    return $sum;
}

my ($path, $piece, $passes) = @ARGV;
my $sum = 0;
$sum += read_ledger($path, $piece) for 1 .. $passes;
print "$sum\n";
