<?php
// Reads the parts of log lines.

$lines = [];
for ($i = 0; $i < 400; $i++) {
    $lines[] = "2026-11-0" . ($i % 9 + 1) . " host$i app[" . ($i * 7) . "]: GET /item/$i?name=shop$i 200 " . ($i * 13) . "ms";
}
$total = 0;
for ($round = 0; $round < (int) $argv[1]; $round++) {
    foreach ($lines as $line) {
        if (preg_match('/^(\d{4}-\d\d-\d\d) (\S+) (\w+)\[(\d+)\]: ([A-Z]+) ([^ ?]+)\??(\S*) (\d{3}) (\d+)ms$/', $line, $parts)) {
            $total += (int) $parts[9] + strlen($parts[6]);
        }
    }
}
echo $total, "\n";
