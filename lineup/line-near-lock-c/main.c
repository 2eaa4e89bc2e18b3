// Worker threads parse records, count them by kind, and now and then add to a total that a lock guards.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 2
#define BATCH 64

struct counts {
	unsigned long seen, bytes;
};

static char *table;
static long stride, records;
static unsigned long total __attribute__((aligned(256)));
static pthread_mutex_t lock __attribute__((aligned(256))) = PTHREAD_MUTEX_INITIALIZER;

static struct counts *counts_of(long worker) { return (struct counts *)(table + worker * stride); }

static unsigned parse(unsigned state, int steps) {
	for (int i = 0; i < steps; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

static unsigned note_batch(volatile struct counts *counts, unsigned state) {
	for (int i = 0; i < BATCH; i++) {
		state = parse(state, 4);
		counts->seen++;
		counts->bytes += state & 63;
		counts->seen += state >> 31;
		counts->bytes ^= state & 7;
	}
	pthread_mutex_lock(&lock);
	total += parse(state, 40) & 1;
	pthread_mutex_unlock(&lock);
	return state;
}

static void *work(void *argument) {
	long worker = (long)argument;
	unsigned state = (unsigned)worker + 1;
	for (long i = 0; i < records; i += BATCH)
		state = note_batch(counts_of(worker), state);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: parse RECORDS STRIDE\n");
		return 2;
	}
	records = atol(argv[1]);
	stride = atol(argv[2]);
	table = aligned_alloc(4096, 4096);
	for (long worker = 0; worker < WORKERS; worker++)
		*counts_of(worker) = (struct counts){0, 0};
	pthread_t workers[WORKERS];
	for (long worker = 0; worker < WORKERS; worker++)
		pthread_create(&workers[worker], NULL, work, (void *)worker);
	for (long worker = 0; worker < WORKERS; worker++)
		pthread_join(workers[worker], NULL);
	printf("%lu\n", total);
	return 0;
}
