/* Waits at known places and prints how long, as "name seconds": two locks held by two others, two
 * sleeps, a pipe answered by another thread, and a lock that is never contended. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, work;
static int ask[2], answer[2];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void sleep_ms(double ms)
{
	struct timespec t = {0, (long)(ms * 1e6)};
	nanosleep(&t, 0);
}

SITE void wait_first(void) { pthread_mutex_lock(&first); work++; }
SITE void wait_second(void) { pthread_mutex_lock(&second); work++; }
SITE void hold_first(void) { sleep_ms(4); work++; }
SITE void hold_second(void) { sleep_ms(2); work++; }
SITE void sleep_short(void) { sleep_ms(3); work++; }
SITE void sleep_long(void) { sleep_ms(7); work++; }
SITE void ask_other(void)
{
	char x = 0;
	if (write(ask[1], &x, 1) + read(answer[0], &x, 1) != 2)
		exit(1);
	work++;
}

static void spin(double us)
{
	for (double end = now() + us / 1e6; now() < end;)
		work++;
}

static void *hold(void *which)
{
	pthread_mutex_t *lock = which;
	while (!stop) {
		pthread_mutex_lock(lock);
		if (lock == &first)
			hold_first();
		else
			hold_second();
		pthread_mutex_unlock(lock);
		spin(200);
	}
	return 0;
}

static void *reply(void *unused)
{
	char x;
	while (read(ask[0], &x, 1) == 1) {
		sleep_ms(1.5);
		if (write(answer[1], &x, 1) != 1)
			exit(1);
	}
	return unused;
}

#define TIMED(total, call) do { double t = now(); call; total += now() - t; } while (0)

int main(int argc, char **argv)
{
	double a = 0, b = 0, s = 0, l = 0, p = 0;
	pthread_t threads[3];
	if (argc != 2 || pipe(ask) || pipe(answer))
		return 2;
	pthread_create(&threads[0], 0, hold, &first);
	pthread_create(&threads[1], 0, hold, &second);
	pthread_create(&threads[2], 0, reply, 0);
	for (double end = now() + atof(argv[1]); now() < end;) {
		TIMED(a, wait_first());
		pthread_mutex_unlock(&first);
		TIMED(s, sleep_short());
		TIMED(b, wait_second());
		pthread_mutex_unlock(&second);
		TIMED(l, sleep_long());
		TIMED(p, ask_other());
	}
	stop = 1;
	close(ask[1]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	printf("wait_first %.6f\nwait_second %.6f\nsleep_short %.6f\nsleep_long %.6f\nask_other %.6f\n", a, b, s, l, p);
	printf("first %ld\nsecond %ld\n", (long)&first, (long)&second);
	return 0;
}
