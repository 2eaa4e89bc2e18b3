<?php
// Finds addresses in a text.
$text = str_repeat("Write to someone.else@example.org or call +49 30 1234567 before 2024-10-11. ", 400);
$found = 0;
for ($i = 0; $i < 900; $i++) {
    $found += preg_match_all('/[\w.]+@[\w.]+\.[a-z]{2,}|\b\d{4}-\d\d-\d\d\b/', $text);
}
echo $found, "\n";
