// Threads write words of one cache line and add up the CPU time that single steps lost.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 32
#define GAP_NS 8000 // a step takes under a microsecond

static volatile unsigned long words[8] __attribute__((aligned(64)));
static volatile int over __attribute__((aligned(64)));
static long lost[8][32];

static long now(void) {
	struct timespec at;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return at.tv_sec * 1000000000L + at.tv_nsec;
}

static void *work(void *argument) {
	long number = (long)argument;
	for (long before = now(), after; !over; before = after) {
		for (int i = 0; i < STEPS; i++)
			words[number]++;
		after = now();
		if (after - before > GAP_NS)
			lost[number][0] += after - before;
	}
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: gaps THREADS; ends with its standard input\n");
		return 2;
	}
	long threads = atol(argv[1]);
	pthread_t ids[8];
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, (void *)i);
	printf("%p\n", (void *)words);
	fflush(stdout);
	while (getchar() != EOF) { // each byte asks what was lost so far
		for (long i = 0; i < threads; i++)
			printf("%ld ", lost[i][0]);
		printf("\n");
		fflush(stdout);
	}
	over = 1;
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}
