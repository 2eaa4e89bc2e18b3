// Adds up the columns of a table with one thread, on a CPU of its own choice.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1024, COLUMNS = 1024 };

static unsigned table[ROWS][COLUMNS];

static unsigned long add_columns(int passes, int by_row) {
	unsigned long total = 0;
	for (int pass = 0; pass < passes; pass++)
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < COLUMNS; j++)
				total += pass < by_row ? table[i][j] * (i + pass) : table[j][i] * (j + pass);
	return total;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: columns PASSES ROWWISE_PASSES\n");
		return 2;
	}
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			table[i][j] = i * 31 + j;
	printf("%lu\n", add_columns(atoi(argv[1]), atoi(argv[2])));
	return 0;
}
