// Fills tables of counters once and adds them up; a larger table takes more memory.
#include <stdio.h>
#include <stdlib.h>

static unsigned *fill_table(size_t entries) {
	unsigned *table = malloc(entries * sizeof *table);
	for (size_t i = 0; i < entries; i++)
		table[i] = (unsigned)(i * 2654435761u);
	return table;
}

static unsigned long add_up(const unsigned *table, size_t entries, int passes) {
	unsigned long sum = 0;
	for (int pass = 0; pass < passes; pass++)
		for (size_t i = 0; i < entries; i += 16)
			sum = sum * 31 + table[i];
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: tables ENTRIES TABLES\n");
		return 2;
	}
	size_t entries = strtoul(argv[1], NULL, 10);
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[2]); i++)
		sum += add_up(fill_table(entries), entries, 6);
	printf("%lu\n", sum);
	return 0;
}
