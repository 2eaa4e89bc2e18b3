<?php
// Estimates how far readings are from their moving average.
function smooth(array $readings, int $width): float {
    $sum = 0.0;
    $count = count($readings);
    for ($i = $width; $i < $count; $i++) {
        $average = 0.0;
        for ($k = 0; $k < $width; $k++) {
            $average += $readings[$i - $k] / $width;
        }
        $sum += abs($readings[$i] - $average);
    }
    return $sum;
}

$readings = [];
for ($i = 0; $i < 20000; $i++) {
    $readings[] = ($i * 7919 % 1000) / 10.0;
}
$total = 0.0;
for ($round = 0; $round < (int) $argv[1]; $round++) {
    $total += smooth($readings, 24);
}
echo round($total), "\n";
