<?php
// Makes pages from templates with includes and loops, as a static site generator does.

function expand(string $template, array $values): string
{
    $template = preg_replace_callback('/\{% each (\w+) %\}(.*?)\{% end %\}/s', function ($match) use ($values) {
        return implode('', array_map(fn ($item) => expand($match[2], $item), $values[$match[1]]));
    }, $template);
    return preg_replace_callback('/\{\{ (\w+) \}\}/', fn ($match) => htmlspecialchars((string) $values[$match[1]]), $template);
}

function make_values(int $number): array
{
    $posts = [];
    for ($i = 0; $i < 25; $i++) {
        $posts[] = ['title' => "Post $i of <$number>", 'date' => sprintf('2024-%02d-%02d', $i % 12 + 1, $number % 28 + 1)];
    }
    return ['name' => "Page $number", 'posts' => $posts];
}

$template = "<h1>{{ name }}</h1><ul>{% each posts %}<li><b>{{ title }}</b> {{ date }}</li>{% end %}</ul>";
$size = 0;
for ($i = 0; $i < (int) $argv[1]; $i++) {
    $page = expand($template, make_values($i));
    if ($i % 400 === 0) {
        file_put_contents("$argv[2]/page.html", $page);
    }
    $size += strlen($page);
}
echo $size, "\n";
