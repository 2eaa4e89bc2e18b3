/* Very many that each do a little: PROCESSES processes of THREADS threads sleep and compute by
 * turns, ROUNDS times. With a directory of cgroups, process N goes into the one called N.
 *
 *	crowd PROCESSES THREADS ROUNDS [CGROUPS] */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long rounds;
static volatile unsigned long sink;

static void *live(void *number)
{
	/* Each has another length of sleep, so that all keep mixing. */
	struct timespec nap = {0, 10000000 + (long)number % 997 * 10000};
	for (long left = rounds; left > 0; left--) {
		nanosleep(&nap, NULL);
		unsigned long value = left;
		for (long i = 0; i < 10000; i++)
			value = value * 6364136223846793005ul + 1442695040888963407ul;
		sink += value;
	}
	return NULL;
}

static int be(long process, long threads, const char *cgroups)
{
	if (cgroups) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%ld/cgroup.procs", cgroups, process);
		FILE *file = fopen(path, "w");
		if (!file || fprintf(file, "0") < 0 || fclose(file))
			return perror(path), 2;
	}
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (long i = 1; i < threads; i++) {
		pthread_t made;
		if (pthread_create(&made, &small, live, (void *)(process + i)))
			return perror("pthread_create"), 2;
	}
	live((void *)process);
	pthread_exit(NULL); /* when the last one ends */
}

int main(int count, char **words)
{
	int failed = 0, status;
	if (count < 4)
		return fprintf(stderr, "usage: crowd PROCESSES THREADS ROUNDS [CGROUPS]\n"), 2;
	rounds = atol(words[3]);
	for (long process = 0; process < atol(words[1]); process++) {
		pid_t child = fork();
		if (child < 0)
			return perror("fork"), 2;
		if (!child)
			_exit(be(process, atol(words[2]), count > 4 ? words[4] : NULL));
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
