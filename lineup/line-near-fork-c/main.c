// Worker processes parse records and count them by kind, each in memory of its own.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 2

struct counts {
	unsigned long seen, bytes;
};

static char *board;
static long stride, records;
static int steps;

static struct counts *counts_of(long worker) { return (struct counts *)(board + worker * stride); }

static unsigned parse(unsigned state, int count) {
	for (int i = 0; i < count; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

static void note(volatile struct counts *counts, unsigned state) {
	counts->seen++;
	counts->bytes += state & 63;
	counts->seen += state >> 31;
	counts->bytes ^= state & 7;
}

static void work(long worker) {
	unsigned state = (unsigned)worker + 1;
	for (long i = 0; i < records; i++) {
		state = parse(state, steps);
		note(counts_of(worker), state);
	}
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: tally RECORDS STEPS\n");
		return 2;
	}
	records = atol(argv[1]);
	stride = sizeof(struct counts);
	steps = atoi(argv[2]);
	board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	for (long worker = 0; worker < WORKERS; worker++) {
		if (fork() == 0) {
			work(worker);
			printf("%lu\n", counts_of(worker)->seen);
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
