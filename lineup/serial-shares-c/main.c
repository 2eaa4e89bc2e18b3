/* Relaxes the cells of a grid in two threads. A few cells are far from their end: who takes many at a
 * time takes all of these. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 256
#define HARD 16

static atomic_int next;
static int share;
static double cells[CELLS];

static double relax(int steps)
{
	double value = steps;
	for (int i = 0; i < steps * 200000; i++)
		value = value * 0.999999 + 1e-7;
	return value;
}

static void *worker(void *unused)
{
	(void)unused;
	for (;;) {
		int from = atomic_fetch_add(&next, share);
		if (from >= CELLS)
			return 0;
		for (int at = from; at < from + share && at < CELLS; at++)
			cells[at] = relax(at < HARD ? 100 : 1);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	share = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, worker, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	printf("%f\n", cells[HARD]);
}
