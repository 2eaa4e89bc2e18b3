// Appends records to a log and forces every 50th to disk.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long make_record(unsigned long seed) {
	for (int i = 0; i < 20000; i++)
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed;
}

int main(int argc, char **argv) {
	char path[] = "./log-XXXXXX";
	int log = argc == 2 ? mkstemp(path) : -1;
	if (log < 0) {
		fprintf(stderr, "usage: log RECORDS\n");
		return 2;
	}
	unlink(path);
	for (int i = 0; i < atoi(argv[1]); i++) {
		unsigned long record = make_record(i);
		if (write(log, &record, sizeof record) != sizeof record || (i % 50 == 0 && fdatasync(log) != 0))
			return 2;
	}
	return 0;
}
