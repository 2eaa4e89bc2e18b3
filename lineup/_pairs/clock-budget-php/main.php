<?php
// Sums an import and stops when its time budget is used up. Usage: main.php ROWS CHECK_EVERY

final class Budget
{
    private int $end;
    private int $left = 0;

    public function __construct(int $seconds, private int $every)
    {
        $this->end = hrtime(true) + $seconds * 1000000000;
    }

    public function used_up(): bool
    {
        if ($this->left-- > 0) {
            return false;
        }
        $this->left = $this->every - 1;
        return hrtime(true) > $this->end;
    }
}

function import_row(array &$totals, int $number): void
{
    $key = $number * 7919 % 1009;
    $totals[$key] = ($totals[$key] ?? 0) + ($number & 63);
}

[, $rows, $every] = $argv;
$budget = new Budget(60, (int) $every);
$totals = [];
for ($i = 0; $i < (int) $rows && !$budget->used_up(); $i++) {
    import_row($totals, $i);
}
echo array_sum($totals), "\n";
