// Packs pages by their runs. With a period, a signal at that period keeps a cheap clock, and a histogram of what was
// going on, up to date.
//
//   usage: PROGRAM JOBS PERIOD_US      (0: no clock)
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { BUCKETS = 4096 };

static volatile struct timespec now;
static volatile unsigned histogram[BUCKETS];
static volatile unsigned job_now;

static void keep_time(int number)
{
	struct timespec time;

	(void)number;
	clock_gettime(CLOCK_MONOTONIC, &time);
	now.tv_sec = time.tv_sec;
	now.tv_nsec = time.tv_nsec;
	for (unsigned i = 0; i < BUCKETS; i++)
		histogram[i] -= histogram[i] >> 4;
	histogram[job_now % BUCKETS] += 1 << 12;
}

static void start_clock(long period_us)
{
	struct sigaction action = {.sa_handler = keep_time, .sa_flags = SA_RESTART};
	struct itimerval period = {{0, period_us}, {0, period_us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &period, NULL);
}

__attribute__((noinline)) static size_t pack_page(unsigned job)
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
	if (atol(argv[2]) > 0)
		start_clock(atol(argv[2]));
	for (long job = 0; job < atol(argv[1]); job++) {
		job_now = (unsigned)job;
		runs += pack_page(job_now);
	}
	printf("%zu runs\n", runs);
	return 0;
}
