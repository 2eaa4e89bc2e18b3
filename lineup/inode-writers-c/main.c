// A spool that two workers append fixed-size blocks to. With "own" each
// worker has a file of its own, with "shared" both write their halves of one file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 2, BLOCK = 256 << 10, SLOTS = 32 };

static int files[WORKERS];
static int blocks;
static unsigned long sums[WORKERS];

// checksum is the worker's other work on each block.
static unsigned long checksum(const unsigned char *data) {
	unsigned long sum = 5381;
	for (int i = 0; i < BLOCK; i += 512)
		sum = sum * 33 + data[i];
	return sum;
}

static void store_block(int worker, int number, const void *data) {
	off_t slot = (off_t)worker * SLOTS + number % SLOTS;
	if (pwrite(files[worker], data, BLOCK, slot * BLOCK) != BLOCK) {
		perror("pwrite");
		exit(2);
	}
}

static void *spool(void *argument) {
	int worker = (int)(long)argument;
	unsigned char *data = malloc(BLOCK);
	memset(data, 'a' + worker, BLOCK);
	for (int i = 0; i < blocks; i++) {
		data[i % BLOCK]++;
		sums[worker] += checksum(data);
		store_block(worker, i, data);
	}
	free(data);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: spool BLOCKS own|shared\n");
		return 2;
	}
	blocks = atoi(argv[1]);
	int shared = strcmp(argv[2], "shared") == 0;
	char path[] = "/dev/shm/spool-XXXXXX";
	for (int i = 0; i < WORKERS; i++) {
		if (i > 0 && shared) {
			files[i] = files[0];
			continue;
		}
		strcpy(path, "/dev/shm/spool-XXXXXX");
		files[i] = mkstemp(path);
		if (files[i] < 0) {
			perror("mkstemp");
			return 2;
		}
		unlink(path);
	}
	pthread_t threads[WORKERS];
	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, spool, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", sums[0] + sums[1]);
	return 0;
}
