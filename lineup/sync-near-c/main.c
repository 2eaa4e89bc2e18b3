// An order journal: each order is formatted and appended. The file is forced to
// disk after every 500 orders; its price is refined in STEPS.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long total;
static int steps;

static int format_order(char *line, size_t size, int number) {
	unsigned long price = 17;
	for (int i = 0; i < steps; i++)
		price = price * 6364136223846793005UL + number;
	total += price >> 40;
	return snprintf(line, size, "%08d %012lu open\n", number, price % 1000000007);
}

static void append_order(int journal, const char *line, int length) {
	if (write(journal, line, length) != length) {
		perror("write");
		exit(2);
	}
}

static void make_durable(int journal) {
	if (fdatasync(journal) != 0) {
		perror("fdatasync");
		exit(2);
	}
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: orders NUMBER STEPS\n");
		return 2;
	}
	int number = atoi(argv[1]);
	steps = atoi(argv[2]);
	char path[] = "./journal-XXXXXX";
	int journal = mkstemp(path);
	if (journal < 0) {
		perror("mkstemp");
		return 2;
	}
	unlink(path);
	for (int i = 0; i < number; i++) {
		char line[64];
		append_order(journal, line, format_order(line, sizeof line, i));
		if (i % 500 == 499)
			make_durable(journal);
	}
	printf("%lu\n", total);
	return 0;
}
