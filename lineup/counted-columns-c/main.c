// columns adds up a table by rows or by columns, with the same loop:
//   columns 12 rows|columns
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 2048 };

__attribute__((noinline)) static uint64_t total(const uint32_t *table, size_t outer, size_t inner)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < SIDE; i++)
		for (size_t j = 0; j < SIDE; j++)
			sum += table[i * outer + j * inner] ^ (uint32_t)sum;
	return sum;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: columns ROUNDS rows|columns\n");
		return 2;
	}
	uint32_t *table = malloc(sizeof *table * SIDE * SIDE);
	if (!table)
		return 1;
	for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
		table[i] = (uint32_t)(i * 2654435761u);
	int by_rows = !strcmp(argv[2], "rows");
	uint64_t all = 0;
	for (int round = atoi(argv[1]); round > 0; round--)
		all += by_rows ? total(table, SIDE, 1) : total(table, 1, SIDE);
	printf("%llu\n", (unsigned long long)all);
	free(table);
	return 0;
}
