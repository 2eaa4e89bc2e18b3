// Answers questions about a table in a file by looking into a mapping of it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct table {
	int file;
	size_t size;
	const unsigned char *rows;
};

static void open_view(struct table *table) {
	table->rows = mmap(NULL, table->size, PROT_READ, MAP_SHARED, table->file, 0);
	if (table->rows == MAP_FAILED)
		abort();
	madvise((void *)table->rows, table->size, MADV_RANDOM);
}

static void close_view(struct table *table) { munmap((void *)table->rows, table->size); }

static unsigned long answer(const struct table *table, unsigned long question) {
	unsigned long sum = question;
	for (size_t at = question % 4096; at < table->size; at += 16384)
		for (int i = 0; i < 150; i++)
			sum = sum * 31 + table->rows[at & ~63UL] + (unsigned long)i;
	return sum;
}

int main(int argc, char **argv) {
	struct table table = {.file = argc == 4 ? open(argv[1], O_RDONLY) : -1};
	struct stat status;
	if (table.file < 0 || fstat(table.file, &status) != 0) {
		fprintf(stderr, "usage: table FILE QUESTIONS QUESTIONS_PER_VIEW\n");
		return 2;
	}
	table.size = (size_t)status.st_size;
	unsigned long sum = 0, each = strtoul(argv[3], NULL, 10);
	open_view(&table);
	for (unsigned long question = 0; question < strtoul(argv[2], NULL, 10); question++) {
		if (question % each == each - 1) {
			close_view(&table);
			open_view(&table);
		}
		sum += answer(&table, question * 7919);
	}
	close_view(&table);
	printf("%lu\n", sum);
	return 0;
}
