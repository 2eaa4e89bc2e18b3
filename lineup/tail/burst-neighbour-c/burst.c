/* Rests for 700 ms, then keeps its CPU busy for 60 ms with eight processes. */
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(void)
{
	struct timespec rest = {0, 700000000};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		nanosleep(&rest, 0);
		for (double until = now() + 0.06; now() < until;)
			;
	}
}
