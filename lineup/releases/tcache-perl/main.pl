# Counts words in records that are made and thrown away.
use strict;
use warnings;

my $words = 0;
for my $i (1 .. 130_000) {
    my @record = map { { id => $i, name => "name $_" } } 1 .. 3;
    $words += scalar(split / /, join(' ', map { $_->{name} } @record));
}
print "$words\n";
