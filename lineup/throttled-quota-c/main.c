// Estimates areas by throwing darts, with one thread.
#include <stdio.h>
#include <stdlib.h>

static unsigned long throw_darts(unsigned long seed, int darts) {
	unsigned long hits = 0;
	for (int i = 0; i < darts; i++) {
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
		unsigned long x = seed >> 48, y = (seed >> 32) & 0xffff;
		hits += x * x + y * y < 0xffffUL * 0xffffUL;
	}
	return hits;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: darts ROUNDS\n");
		return 2;
	}
	unsigned long hits = 0;
	for (int i = 0; i < atoi(argv[1]); i++)
		hits += throw_darts(i, 100000);
	printf("%lu\n", hits);
	return 0;
}
