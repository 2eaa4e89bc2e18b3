/* Two threads count in memory of their own (apart), in neighbouring words of one cache line (near), or in one word
 * (same), for so many seconds. Prints the counts of each. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
	_Alignas(128) atomic_long word[64];
} shared;

static atomic_int stop;

__attribute__((noinline)) static long count_up(atomic_long *word)
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

static void *run(void *word) { return (void *)count_up(word); }

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	int second = !strcmp(argv[2], "apart") ? 32 : !strcmp(argv[2], "near") ? 2 : 0;
	double seconds = atof(argv[1]);
	struct timespec wait = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	pthread_t one, two;
	void *first, *last;
	pthread_create(&one, 0, run, &shared.word[0]);
	pthread_create(&two, 0, run, &shared.word[second]);
	nanosleep(&wait, 0);
	stop = 1;
	pthread_join(one, &first);
	pthread_join(two, &last);
	printf("first %ld\nsecond %ld\n", (long)first, (long)last);
	return 0;
}
