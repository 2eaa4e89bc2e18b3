// Times each step of a stream of messages and keeps a histogram of how long steps took.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long histogram[64];

static long now(void) {
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000L + at.tv_nsec;
}

static void note(long nanoseconds) { histogram[63 - __builtin_clzl((unsigned long)nanoseconds | 1)]++; }

static unsigned long handle(unsigned long message) {
	message ^= message >> 31;
	return message * 0x9e3779b97f4a7c15UL;
}

static unsigned long serve(long messages) {
	unsigned long state = 1;
	long before = now();
	for (long i = 0; i < messages; i++) {
		state = handle(state + i);
		long after = now();
		note(after - before);
		before = after;
	}
	return state;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: serve MESSAGES\n");
		return 2;
	}
	unsigned long state = serve(atol(argv[1])), steps = 0;
	for (int i = 0; i < 64; i++)
		steps += histogram[i];
	printf("%lx %lu\n", state, steps);
	return 0;
}
