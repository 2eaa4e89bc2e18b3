/* Spins in two methods, three to one, that only demangling can name. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long work;

static double now(clockid_t clock)
{
	timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

namespace shop {
template <typename Number> struct Basket {
	__attribute__((noinline, noclone)) void inner(Number rounds)
	{
		for (Number i = 0; i < rounds; i++)
			work = work + i * i;
	}
	__attribute__((noinline, noclone)) void spin_much(Number rounds) { inner(rounds * 3); work = work + 1; }
	__attribute__((noinline, noclone)) void spin_little(Number rounds) { inner(rounds); work = work + 1; }
};
}

int main(int argc, char **argv)
{
	shop::Basket<long> basket;
	double much = 0, little = 0;
	if (argc < 2)
		return 2;
	for (double end = now(CLOCK_MONOTONIC) + atof(argv[1]); now(CLOCK_MONOTONIC) < end;) {
		double start = now(CLOCK_THREAD_CPUTIME_ID);
		basket.spin_much(300000);
		double next = now(CLOCK_THREAD_CPUTIME_ID);
		much += next - start;
		basket.spin_little(300000);
		little += now(CLOCK_THREAD_CPUTIME_ID) - next;
	}
	printf("spin_much %.6f\nspin_little %.6f\n", much, little);
	return 0;
}
