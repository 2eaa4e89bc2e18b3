/* Wakes up every 5 ms by the clock and works a little. Prints how often: "ticks N". */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec next;
	volatile long work = 0;
	int ticks = argc > 1 ? atoi(argv[1]) : 200;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < ticks; i++) {
		next.tv_nsec += 5000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
		for (int j = 0; j < 100000; j++)
			work += j;
	}
	printf("ticks %d\n", ticks);
	return 0;
}
