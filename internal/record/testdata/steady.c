/* Goes on until it is killed: calls getppid, sleeps half a millisecond, spins a little; a second thread
 * waits for ever. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long work;

static void *wait_for_ever(void *unused)
{
	prctl(PR_SET_NAME, "waiter");
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	pthread_t other;
	struct timespec half = {0, 500000};
	if (pthread_create(&other, 0, wait_for_ever, 0))
		return 1;
	for (;;) {
		syscall(SYS_getppid);
		nanosleep(&half, 0);
		for (int i = 0; i < 100000; i++)
			work += i;
	}
}
