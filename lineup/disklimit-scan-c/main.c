// Scans an archive past the page cache, block by block.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 256 << 10 };

static unsigned long scan_block(const unsigned char *block) {
	unsigned long sum = 0;
	for (int pass = 0; pass < 12; pass++)
		for (int i = 0; i < BLOCK; i += 8)
			sum = sum * 31 + block[i];
	return sum;
}

static ssize_t load_block(int file, void *block, off_t at) { return pread(file, block, BLOCK, at); }

int main(int argc, char **argv) {
	int file = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
	void *block;
	if (file < 0 || posix_memalign(&block, 4096, BLOCK) != 0) {
		fprintf(stderr, "usage: scan ARCHIVE\n");
		return 2;
	}
	unsigned long sum = 0;
	for (off_t at = 0; load_block(file, block, at) == BLOCK; at += BLOCK)
		sum += scan_block(block);
	printf("%lu\n", sum);
	return 0;
}
