# Joins the fields of records into lines.
use strict;
use warnings;

my $letters = 0;
for my $i (1 .. 130_000) {
    my @lines = map { ("name $_;" x (20 + 9 * $_)) . $i } 1 .. 4;
    $letters += length join(',', @lines);
}
print "$letters\n";
