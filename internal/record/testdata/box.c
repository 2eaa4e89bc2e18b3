/* Spins for so many seconds in a library that only its container has. Prints the CPU seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void shelf_spin(long count);

static double read_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (double end = read_clock(CLOCK_MONOTONIC) + atof(argv[1]); read_clock(CLOCK_MONOTONIC) < end;)
		shelf_spin(300000);
	printf("shelf_spin %.6f\n", read_clock(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
