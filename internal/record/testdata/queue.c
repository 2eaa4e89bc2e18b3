/* Threads that write large pieces to one file: the kernel lets one in at a time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int file, rounds;
static size_t bytes;

static void *writer(void *nothing)
{
	char *buffer = calloc(1, bytes);
	for (int i = 0; i < rounds; i++)
		if (pwrite(file, buffer, bytes, 0) != (ssize_t)bytes)
			exit(2);
	return nothing;
}

int main(int argc, char **argv)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	struct timespec start, end;
	file = open(argv[1], O_RDWR | O_CREAT, 0600);
	rounds = atoi(argv[2]);
	bytes = atol(argv[3]);
	if (argc != 4 || file < 0)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], 0, writer, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("threads %d\nseconds %.9f\n", THREADS,
	       (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9);
	return 0;
}
