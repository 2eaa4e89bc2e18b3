/* Computes for some 10 ms in the function that is named at compile time, and ends. */
#include <time.h>

#ifndef WORK
#define WORK work_before
#endif

static volatile unsigned long sink;

static __attribute__((noinline)) long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

__attribute__((noinline)) void WORK(void)
{
	long end = now() + 10000000;
	do
		for (int i = 0; i < 20000; i++)
			sink += i;
	while (now() < end);
}

int main(void)
{
	WORK();
	return 0;
}
