<?php
// Spins for so many seconds: two functions, three to one by CPU time. Prints the CPU seconds of each.
function inner(int $rounds): int
{
    $work = 0;
    for ($i = 0; $i < $rounds; $i++) {
        $work += $i & 255;
    }
    return $work;
}

function spin_much(int $rounds): int
{
    return inner(3 * $rounds) + 1;
}

function spin_little(int $rounds): int
{
    return inner($rounds) + 1;
}

function cpu(): float
{
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6
        + $used['ru_stime.tv_sec'] + $used['ru_stime.tv_usec'] / 1e6;
}

function main(float $seconds): void
{
    $much = $little = 0.0;
    $end = microtime(true) + $seconds;
    while (microtime(true) < $end) {
        $start = cpu();
        spin_much(20000);
        $then = cpu();
        spin_little(20000);
        $much += $then - $start;
        $little += cpu() - $then;
    }
    printf("spin_much %.6f\nspin_little %.6f\n", $much, $little);
}

main((float) $argv[1]);
