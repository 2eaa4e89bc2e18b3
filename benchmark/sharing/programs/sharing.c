// Threads parse records and count them: in words of one cache line, in one word, or apart.
#include <stdatomic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tally {
	_Atomic unsigned long done;
	unsigned long bytes;
};

struct job {
	struct tally *mine;
	long operations, ns;
	unsigned state;
	char apart[128];
};

static long lasts_ns, most;

static long now(clockid_t clock) {
	struct timespec at;
	clock_gettime(clock, &at);
	return at.tv_sec * 1000000000L + at.tv_nsec;
}

__attribute__((noinline)) static unsigned parse(unsigned state, int steps) {
	for (int i = 0; i < steps; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

__attribute__((noinline)) static void note(struct tally *tally, unsigned state) {
	atomic_fetch_add_explicit(&tally->done, 1, memory_order_relaxed);
	tally->bytes += state & 63;
}

static void *work(void *argument) {
	struct job *job = argument;
	long end = now(CLOCK_MONOTONIC) + lasts_ns, begin = now(CLOCK_THREAD_CPUTIME_ID), operations = 0;
	unsigned state = job->state;
	do {
		for (int i = 0; i < 4096; i++) {
			state = parse(state, 4);
			note(job->mine, state);
		}
		operations += 4096;
	} while (now(CLOCK_MONOTONIC) < end && operations < most);
	job->ns = now(CLOCK_THREAD_CPUTIME_ID) - begin;
	job->operations = operations;
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 5) {
		fprintf(stderr, "usage: sharing false|true|padded|own THREADS MILLISECONDS OPERATIONS\n");
		return 2;
	}
	long threads = atol(argv[2]), stride = 16, operations = 0, ns = 0;
	lasts_ns = atol(argv[3]) * 1000000;
	most = atol(argv[4]) / threads;
	if (!strcmp(argv[1], "true"))
		stride = 0;
	else if (strcmp(argv[1], "false"))
		stride = 256;
	char *tallies = aligned_alloc(4096, 4096);
	memset(tallies, 0, 4096);
	struct job *jobs = aligned_alloc(256, 256 * threads);
	pthread_t *ids = calloc(threads, sizeof *ids);
	for (long i = 0; i < threads; i++) {
		jobs[i] = (struct job){.mine = (void *)(tallies + i * stride), .state = i + 1};
		pthread_create(&ids[i], NULL, work, &jobs[i]);
	}
	for (long i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		operations += jobs[i].operations;
		ns += jobs[i].ns;
	}
	printf("%ld %ld\n", operations, ns);
}
