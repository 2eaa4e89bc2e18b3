// Checks words against a dictionary, of which each thread makes a copy of its own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long words;
static int threads;
static int size = 1 << 15;

static unsigned long next_word(unsigned long state) {
	state ^= state >> 31;
	state *= 0x9E3779B97F4A7C15ul;
	return state ^ state >> 29;
}

__attribute__((noinline)) static unsigned *load_dictionary(void) {
	unsigned *dictionary = calloc(size, sizeof *dictionary);
	for (int round = 0; round < 5000; round++)
		for (int i = 0; i < size; i++)
			dictionary[i] = dictionary[i] * 31 + i;
	return dictionary;
}

__attribute__((noinline)) static long check(const unsigned *dictionary, unsigned long state) {
	long known = 0;
	for (long i = 0; i < words / threads; i++) {
		state = next_word(state + i);
		known += dictionary[state % size] == (unsigned)state;
	}
	return known;
}

static void *check_part(void *part) {
	unsigned *dictionary = load_dictionary();
	long known = check(dictionary, (unsigned long)part + 1);
	free(dictionary);
	return (void *)known;
}

int main(int argc, char **argv) {
	pthread_t started[64];
	threads = argc > 1 ? atoi(argv[1]) : 2;
	words = argc > 2 ? atol(argv[2]) : 60000000;
	for (long i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, check_part, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	printf("%ld\n", words);
}
