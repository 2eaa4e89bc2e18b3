// Queue consumer that is nearly idle: a producer hands over a job now and
// then. With a period, a second thread counts time by a periodic timer.
//
//   usage: PROGRAM JOBS PERIOD_US      (0: no timer)
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t coarse_time;

static void *count_time(void *argument)
{
	long period_us = *(long *)argument;
	struct itimerspec period = {
		.it_interval = {.tv_nsec = period_us * 1000},
		.it_value = {.tv_nsec = period_us * 1000},
	};
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t expirations;

	timerfd_settime(timer, 0, &period, NULL);
	while (read(timer, &expirations, sizeof expirations) == sizeof expirations)
		coarse_time += expirations * period_us;
	return NULL;
}

// compress_job run-length codes a page that it first fills with a pattern.
__attribute__((noinline)) static size_t compress_job(unsigned job)
{
	static unsigned char page[1 << 16];
	size_t runs = 0;

	for (int round = 0; round < 64; round++) {
		for (size_t i = 0; i < sizeof page; i++)
			page[i] = (unsigned char)((i >> 3) * (job + round));
		for (size_t i = 1; i < sizeof page; i++)
			runs += page[i] != page[i - 1];
	}
	return runs;
}

int main(int argc, char **argv)
{
	size_t runs = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s JOBS PERIOD_US\n", argv[0]);
		return 2;
	}
	long jobs = atol(argv[1]), period_us = atol(argv[2]);
	if (period_us > 0) {
		pthread_t clock_thread;
		pthread_create(&clock_thread, NULL, count_time, &period_us);
	}
	for (long job = 0; job < jobs; job++) {
		// Irregular gaps: this thread follows its work, not a clock.
		struct timespec gap = {.tv_nsec = (30 + job * 29 % 67) * 1000000};
		nanosleep(&gap, NULL);
		runs += compress_job((unsigned)job);
	}
	printf("%zu runs\n", runs);
	return 0;
}
