// Counts the words of generated documents in one table for all threads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS (1 << 17)
static _Atomic unsigned seen[WORDS];
static long documents;
static int threads;

static unsigned long next_word(unsigned long state) {
	state ^= state >> 31;
	state *= 0x9E3779B97F4A7C15ul;
	return state ^ state >> 29;
}

__attribute__((noinline)) static void note_word(unsigned long word) { atomic_fetch_add(&seen[word % WORDS], 1); }

__attribute__((noinline)) static unsigned long read_document(unsigned long state) {
	for (int i = 0; i < 60; i++) {
		state = next_word(state + i);
		if (i % 3)
			note_word(state);
	}
	return state;
}

static void *read_part(void *part) {
	unsigned long state = (unsigned long)part + 1;
	for (long i = 0; i < documents / threads; i++)
		state = read_document(state);
	return (void *)state;
}

int main(int argc, char **argv) {
	pthread_t started[64];
	threads = argc > 1 ? atoi(argv[1]) : 2;
	documents = argc > 2 ? atol(argv[2]) : 1000000;
	for (long i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, read_part, (void *)(i * 7919));
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	printf("%u\n", seen[7]);
}
