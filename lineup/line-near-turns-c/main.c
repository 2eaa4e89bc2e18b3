// Short-lived threads parse a batch each and count in a variable of their own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LANES 2

struct counts {
	unsigned long seen, bytes;
};

static __thread struct counts own;

static long records;
static int steps;

static unsigned parse(unsigned state, int count) {
	for (int i = 0; i < count; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

static void note(unsigned state) {
	volatile struct counts *counts = &own;
	counts->seen++;
	counts->bytes += state & 63;
	counts->seen += state >> 31;
	counts->bytes ^= state & 7;
}

static void *work(void *lane) {
	unsigned state = (unsigned)(long)lane + 1;
	for (long i = 0; i < records; i++) {
		state = parse(state, steps);
		note(state);
	}
	return (void *)own.seen;
}

static void *batches(void *argument) {
	unsigned long total = 0;
	for (long batch = 0; batch < 40; batch++) {
		pthread_t worker;
		void *seen;
		pthread_create(&worker, NULL, work, argument);
		pthread_join(worker, &seen);
		total += (unsigned long)seen;
	}
	return (void *)total;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: turns RECORDS STEPS\n");
		return 2;
	}
	records = atol(argv[1]);
	steps = atoi(argv[2]);
	pthread_t lanes[LANES];
	unsigned long total = 0;
	for (long lane = 0; lane < LANES; lane++)
		pthread_create(&lanes[lane], NULL, batches, (void *)lane);
	for (long lane = 0; lane < LANES; lane++) {
		void *seen;
		pthread_join(lanes[lane], &seen);
		total += (unsigned long)seen;
	}
	printf("%lu\n", total);
	return 0;
}
