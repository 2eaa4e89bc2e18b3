// Renders tiles, each in memory of its own that is given back at once.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TILE (16 << 10)
static atomic_long rendered;
static long tiles;

__attribute__((noinline)) static unsigned shade(unsigned char *tile, long number) {
	unsigned sum = number;
	for (int i = 0; i < TILE; i += 16) {
		sum = sum * 1664525u + 1013904223u;
		tile[i] = sum >> 24;
	}
	return sum;
}

__attribute__((noinline)) static unsigned render(long number) {
	unsigned char *tile = mmap(NULL, TILE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tile == MAP_FAILED)
		abort();
	unsigned sum = shade(tile, number);
	munmap(tile, TILE);
	return sum;
}

static void *render_all(void *unused) {
	unsigned long sum = 0;
	for (long number; (number = atomic_fetch_add(&rendered, 1)) < tiles;)
		sum += render(number);
	return (void *)sum;
}

int main(int argc, char **argv) {
	pthread_t started[64];
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	tiles = argc > 2 ? atol(argv[2]) : 40000;
	for (int i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, render_all, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	printf("%ld\n", tiles);
}
