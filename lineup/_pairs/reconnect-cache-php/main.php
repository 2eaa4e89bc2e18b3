<?php
// Renders shop pages with a cache in redis, which it starts for itself. Usage: main.php FOLDER PAGES PER_CONNECTION

function free_port(): int
{
    $probe = stream_socket_server('tcp://127.0.0.1:0');
    $name = stream_socket_get_name($probe, false);
    fclose($probe);
    return (int) substr($name, strrpos($name, ':') + 1);
}

final class Cache
{
    private $stream = null;
    private int $uses = 0;

    public function __construct(private int $port, private int $usesMax)
    {
    }

    private function open()
    {
        if ($this->stream === null || $this->uses >= $this->usesMax) {
            if ($this->stream !== null) {
                fclose($this->stream);
            }
            $this->stream = stream_socket_client("tcp://127.0.0.1:{$this->port}", $code, $message, 5);
            $this->uses = 0;
        }
        $this->uses++;
        return $this->stream;
    }

    public function call(string ...$words): ?string
    {
        $request = '*' . count($words) . "\r\n";
        foreach ($words as $word) {
            $request .= '$' . strlen($word) . "\r\n$word\r\n";
        }
        $stream = $this->open();
        fwrite($stream, $request);
        $line = rtrim(fgets($stream));
        if ($line[0] !== '$') {
            return substr($line, 1);
        }
        $length = (int) substr($line, 1);
        return $length < 0 ? null : substr(stream_get_contents($stream, $length + 2), 0, $length);
    }
}

function render_product(int $number): string
{
    $rows = [];
    for ($i = 0; $i < 40; $i++) {
        $rows[] = sprintf('<li>%s %d</li>', htmlspecialchars("Item <$number> & $i"), $i * $number % 97);
    }
    return implode("\n", $rows);
}

function show_product(Cache $cache, int $number): int
{
    $key = 'product-' . $number % 400;
    $page = $cache->call('GET', $key);
    if ($page === null) {
        $page = render_product($number % 400);
        $cache->call('SET', $key, $page);
    }
    return strlen($page);
}

[, $folder, $pages, $usesMax] = $argv;
$port = free_port();
$null = ['file', '/dev/null', 'w'];
$server = proc_open(['redis-server', '--port', (string) $port, '--bind', '127.0.0.1', '--save', '', '--dir', $folder], [1 => $null, 2 => $null], $pipes);
while (($probe = @stream_socket_client("tcp://127.0.0.1:$port")) === false) {
    usleep(5000);
}
fclose($probe);
$cache = new Cache($port, (int) $usesMax);
$size = 0;
for ($i = 0; $i < (int) $pages; $i++) {
    $size += show_product($cache, $i);
    $size += strlen(render_product($i)) & 1;
}
echo $size, "\n";
proc_terminate($server);
while (proc_get_status($server)['running']) {
    usleep(2000);
}
