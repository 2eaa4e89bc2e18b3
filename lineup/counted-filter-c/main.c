// filter picks the readings above a limit, over and over, from readings in order or not:
//   filter 60 sorted|shuffled
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READINGS = 1 << 16 };

static uint32_t readings[READINGS], chosen[READINGS];

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

__attribute__((noinline)) static uint32_t pick(uint32_t limit)
{
	uint32_t count = 0;
	for (int i = 0; i < READINGS; i++)
		if (readings[i] > limit) {
			chosen[count] = readings[i];
			__asm__ volatile("" : "+r"(count) : : "memory"); /* stays a branch */
			count++;
		}
	return count;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: filter ROUNDS sorted|shuffled\n");
		return 2;
	}
	uint64_t state = 88172645463325252ull;
	for (int i = 0; i < READINGS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		readings[i] = (uint32_t)(state >> 40);
	}
	/* Both sort: what differs is the order in which the readings are filtered. */
	uint32_t *copy = malloc(sizeof readings);
	if (!copy)
		return 1;
	memcpy(copy, readings, sizeof readings);
	qsort(copy, READINGS, sizeof *copy, compare);
	if (!strcmp(argv[2], "sorted"))
		memcpy(readings, copy, sizeof readings);
	uint64_t all = 0;
	for (int round = atoi(argv[1]); round > 0; round--)
		all += pick(copy[READINGS / 2] + round % 7);
	printf("%llu\n", (unsigned long long)all);
	free(copy);
	return 0;
}
