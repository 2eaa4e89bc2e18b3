/* A thread counts in a variable of its own, for so many seconds, and another one in that thread's memory through a
 * pointer: in the neighbouring word (near), or far from it (apart). Or threads count in their own memory, one after the
 * other on one stack, while another one counts in its own (turns). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURNS 5

static __thread struct {
	_Alignas(128) atomic_long word[64];
} own;

static atomic_int stop;
static _Atomic(atomic_long *) foreign;
static int other;

__attribute__((noinline)) static long count_own(void)
{
	long turns = 0;
	while (!stop) {
		atomic_fetch_add(&own.word[0], 1);
		atomic_fetch_add(&own.word[0], 1);
		atomic_fetch_add(&own.word[0], 1);
		atomic_fetch_add(&own.word[0], 1);
		turns += 4;
	}
	return turns;
}

__attribute__((noinline)) static long count_foreign(atomic_long *word)
{
	long turns = 0;
	while (!stop) {
		atomic_fetch_add(word, 1);
		atomic_fetch_add(word, 1);
		atomic_fetch_add(word, 1);
		atomic_fetch_add(word, 1);
		turns += 4;
	}
	return turns;
}

static void *run_own(void *unused)
{
	foreign = &own.word[other];
	return (void *)count_own();
}

static void *run_foreign(void *unused)
{
	while (!foreign)
		;
	return (void *)count_foreign(foreign);
}

static void count_for(double seconds, pthread_t *threads, int count)
{
	struct timespec wait = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	nanosleep(&wait, 0);
	stop = 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], 0);
	stop = 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	double seconds = atof(argv[1]);
	pthread_t threads[2];
	if (!strcmp(argv[2], "turns")) {
		for (int turn = 0; turn < TURNS; turn++) {
			pthread_create(&threads[0], 0, run_own, 0);
			pthread_create(&threads[1], 0, run_own, 0);
			count_for(seconds / TURNS, threads, 2);
		}
	} else {
		other = !strcmp(argv[2], "near") ? 2 : 32;
		pthread_create(&threads[0], 0, run_own, 0);
		pthread_create(&threads[1], 0, run_foreign, 0);
		count_for(seconds, threads, 2);
	}
	return 0;
}
