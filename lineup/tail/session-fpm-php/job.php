<?php
// Tidies the sessions every second, which takes 45 ms.
while (true) {
	usleep(900000);
	$session = fopen($argv[1], 'c+');
	flock($session, LOCK_EX);
	usleep(45000);
	flock($session, LOCK_UN);
	fclose($session);
}
