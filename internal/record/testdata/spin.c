/* Spins for so many seconds of wall time: two functions, three to one by CPU time, and a third that
 * reads the clock through the vDSO. Prints the CPU seconds of each. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SITE __attribute__((noinline, noclone))

static volatile unsigned long work;

static double read_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

SITE void inner(long rounds)
{
	for (long i = 0; i < rounds; i++)
		work += i * i;
}
SITE void spin_much(long rounds) { inner(rounds * 3); work++; }
SITE void spin_little(long rounds) { inner(rounds); work++; }
SITE void read_often(long rounds)
{
	struct timespec t;
	for (long i = 0; i < rounds; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		work += t.tv_nsec;
	}
}

int main(int argc, char **argv)
{
	double much = 0, little = 0, often = 0;
	if (argc < 2)
		return 2;
	for (double end = read_clock(CLOCK_MONOTONIC) + atof(argv[1]); read_clock(CLOCK_MONOTONIC) < end;) {
		double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
		spin_much(300000);
		double next = read_clock(CLOCK_THREAD_CPUTIME_ID);
		much += next - start;
		spin_little(300000);
		start = read_clock(CLOCK_THREAD_CPUTIME_ID);
		little += start - next;
		if (argc > 2)
			read_often(20000);
		often += read_clock(CLOCK_THREAD_CPUTIME_ID) - start;
	}
	printf("spin_much %.6f\nspin_little %.6f\nread_often %.6f\n", much, little, often);
	return 0;
}
