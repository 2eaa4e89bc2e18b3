/* Reads the time as often as it is told to, in a loop that is unrolled eight times
 * so that the loop itself does not matter, and uses what it read. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static long sum;

static inline void once(void)
{
	struct timeval now;
	gettimeofday(&now, 0);
	sum += now.tv_usec;
}

int main(int count, char **words)
{
	long reads = count > 1 ? atol(words[1]) : 1000000;
	for (long i = 0; i < reads; i += 8) {
		once(); once(); once(); once();
		once(); once(); once(); once();
	}
	return printf("%ld\n", sum) < 0;
}
