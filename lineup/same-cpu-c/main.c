// Compressor's inner loop: finds repeated strings in a block by a hash chain.
//
//   usage: PROGRAM BLOCKS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 18, TABLE = 1 << 14 };

__attribute__((noinline)) static void fill_block(unsigned char *block, uint32_t seed)
{
	for (int i = 0; i < SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		block[i] = i > 4096 && seed >> 30 ? block[i - 1 - (seed >> 16) % 4096] : seed >> 24;
	}
}

__attribute__((noinline)) static long find_matches(const unsigned char *block)
{
	static int32_t head[TABLE];
	long matched = 0;

	memset(head, 0, sizeof head);
	for (int i = 1; i + 8 < SIZE; i++) {
		uint32_t word;
		memcpy(&word, block + i, sizeof word);
		uint32_t slot = word * 2654435761u >> 18;
		int candidate = head[slot], length = 0;
		while (candidate && length < 8 && block[candidate + length] == block[i + length])
			length++;
		matched += length;
		head[slot] = i;
	}
	return matched;
}

int main(int argc, char **argv)
{
	static unsigned char block[SIZE];
	long matched = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s BLOCKS\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < atoi(argv[1]); i++) {
		fill_block(block, (uint32_t)i + 1);
		matched += find_matches(block);
	}
	printf("%ld\n", matched);
	return 0;
}
