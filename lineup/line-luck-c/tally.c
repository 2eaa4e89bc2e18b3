// Two threads handle records and tally them, each in a struct of its own. Both structs lie on the main thread's
// stack, so that whether the two hot words share a cache line depends on where the kernel puts that: on luck,
// or on how long the environment is.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TURN_NS 40000000

struct tally {
	_Atomic unsigned long handled;
	unsigned long limit, first, last, failed;
};

static long records, steps;
static int plain;

static unsigned parse(unsigned state) {
	for (long i = 0; i < steps; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

static unsigned handle(struct tally *own, unsigned state) {
	state = parse(state);
	if (plain) // nobody else writes it
		atomic_store_explicit(&own->handled, atomic_load_explicit(&own->handled, memory_order_relaxed) + 1,
				      memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&own->handled, 1 + (state >> 31), memory_order_relaxed);
	return state;
}

static void *run(void *argument) {
	unsigned state = 1;
	for (long i = 0; i < records; i++)
		state = handle(argument, state);
	return NULL;
}

// serve handles a batch every so often, for ever.
static void *serve(void *argument) {
	unsigned state = 1;
	for (;;) {
		struct timespec now, rest = {0};
		clock_gettime(CLOCK_MONOTONIC, &now);
		// Two such processes have their turns one after the other.
		rest.tv_nsec = TURN_NS - (now.tv_nsec + getpid() % 2 * TURN_NS / 2) % TURN_NS;
		nanosleep(&rest, NULL);
		for (long i = 0; i < -records; i++)
			state = handle(argument, state);
	}
	return NULL;
}

int main(int argc, char **argv) {
	struct tally tallies[2];
	if (argc != 4) {
		fprintf(stderr, "usage: tally RECORDS|-BATCH STEPS atomic|plain\n");
		return 2;
	}
	memset(tallies, 0, sizeof tallies);
	puts((uintptr_t)&tallies[0] / 64 == (uintptr_t)&tallies[1] / 64 ? "together" : "apart");
	fflush(stdout);
	const char *where = getenv("WHERE");
	if (where && *where == '1')
		return 0;
	records = atol(argv[1]);
	steps = atol(argv[2]);
	plain = strcmp(argv[3], "plain") == 0;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, records < 0 ? serve : run, &tallies[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", tallies[0].handled + tallies[1].handled);
	return 0;
}
