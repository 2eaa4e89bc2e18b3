// Answers questions from a table on disk by reading it in passes.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 64 << 10 };

static unsigned long search_block(const unsigned char *block, int size, unsigned key) {
	unsigned long found = 0;
	for (int i = 0; i < size; i++)
		found += (block[i] ^ key) * 2654435761u >> 30;
	return found;
}

static ssize_t read_block(int table, unsigned char *block, off_t at) { return pread(table, block, BLOCK, at); }

int main(int argc, char **argv) {
	int table = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	if (table < 0) {
		fprintf(stderr, "usage: search TABLE PASSES\n");
		return 2;
	}
	static unsigned char block[BLOCK];
	unsigned long found = 0;
	for (int pass = 0; pass < atoi(argv[2]); pass++) {
		off_t at = 0;
		for (ssize_t size; (size = read_block(table, block, at)) > 0; at += size)
			found += search_block(block, size, pass);
	}
	printf("%lu\n", found);
	return 0;
}
