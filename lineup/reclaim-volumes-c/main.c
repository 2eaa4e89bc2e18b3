// Checks that new volumes hold nothing before they are handed out, and keeps a map of what was checked.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64 << 10, MAP = 12 << 20 };

static off_t volume_size = 40 << 20;

static unsigned long sum_block(const unsigned long *words, ssize_t size) {
	unsigned long sum = 0;
	for (ssize_t i = 0; i < size / (ssize_t)sizeof *words; i++)
		sum = (sum << 1 | sum >> 63) ^ words[i];
	return sum;
}

static ssize_t read_block(int volume, unsigned long *block, off_t at) { return pread(volume, block, BLOCK, at); }

static unsigned long check_volume(const char *path, unsigned char *map) {
	static unsigned long block[BLOCK / sizeof(long)];
	int volume = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (volume < 0 || ftruncate(volume, volume_size)) {
		perror(path);
		exit(2);
	}
	posix_fadvise(volume, 0, 0, POSIX_FADV_RANDOM);
	unsigned long sum = 0;
	long blocks = volume_size / BLOCK;
	for (long i = 0; i < blocks; i++) {
		off_t at = i * 37 % blocks * BLOCK; // samples first: most faults show early
		sum += sum_block(block, read_block(volume, block, at));
		map[at % MAP] = sum == 0;
	}
	close(volume);
	unlink(path);
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: check PATH VOLUMES\n");
		return 2;
	}
	unsigned char *map = malloc(MAP);
	memset(map, 1, MAP);
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[2]); i++)
		sum += check_volume(argv[1], map);
	printf("%lu %d\n", sum, map[0]);
	return 0;
}
