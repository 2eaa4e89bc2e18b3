/* A second thread executes the program anew: it takes over the process and the first thread ends.
 * The new program spins for 50 ms of CPU time and ends with status 7. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static char *self;

static void *execute(void *unused)
{
	char *const words[] = {self, "again", 0};
	usleep(20000);
	execv(self, words);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;
	if (argc > 1) {
		struct timespec t = {0, 0};
		while (t.tv_nsec < 50000000)
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		return 7;
	}
	self = argv[0];
	if (pthread_create(&other, 0, execute, 0))
		return 1;
	pause();
	return 1;
}
