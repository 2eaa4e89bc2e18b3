<?php
// A page of a shop; one in four of them needs the visitor's session, which a job locks now and then.
function open_session(string $path): void {
	$session = fopen($path, 'c+');
	flock($session, LOCK_EX);
	fwrite($session, 'visited');
	flock($session, LOCK_UN);
	fclose($session);
}
$sum = 0;
for ($i = 0; $i < 3000; $i++) {
	$sum += crc32("row $i");
}
open_session($_SERVER['SESSION']);
header('Content-Length: 2');
echo 'ok';
