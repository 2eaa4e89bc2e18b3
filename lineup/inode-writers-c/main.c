// An archive: a background thread writes bulk data in large blocks while the
// main thread numbers records and notes each hundredth one in an index, which
// is a file of its own ("own") or the archive's head ("head").
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 24 << 20, HEAD = 4096 };

static int archive;
static atomic_int done;

static int new_file(void) {
	char path[] = "/dev/shm/archive-XXXXXX";
	int file = mkstemp(path);
	if (file < 0) {
		perror("mkstemp");
		exit(2);
	}
	unlink(path);
	return file;
}

static void *write_bulk(void *unused) {
	(void)unused;
	char *block = malloc(BLOCK);
	memset(block, 'b', BLOCK);
	while (!done) {
		if (pwrite(archive, block, BLOCK, HEAD) != BLOCK) {
			perror("pwrite");
			exit(2);
		}
		usleep(2000);
	}
	free(block);
	return NULL;
}

static unsigned long number_record(unsigned long seed) {
	for (int i = 0; i < 4000; i++)
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed;
}

static void note_record(int index, int number) {
	if (pwrite(index, &number, sizeof number, number % (HEAD / 4) * 4) != sizeof number) {
		perror("pwrite");
		exit(2);
	}
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: archive RECORDS own|head\n");
		return 2;
	}
	archive = new_file();
	int index = strcmp(argv[2], "head") == 0 ? archive : new_file();
	pthread_t bulk;
	pthread_create(&bulk, NULL, write_bulk, NULL);
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++) {
		sum += number_record(i);
		if (i % 200 == 0)
			note_record(index, i);
	}
	done = 1;
	pthread_join(bulk, NULL);
	printf("%lu\n", sum);
	return 0;
}
