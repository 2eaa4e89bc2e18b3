// Prints price lists: fills a table of prices, then has a command count each list.
// usage: prices LISTS MIB fork|spawn
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static uint64_t *fill_table(size_t entries)
{
	uint64_t *table = malloc(entries * sizeof *table);
	uint64_t price = 99991;

	if (!table)
		exit(1);
	for (size_t i = 0; i < entries; i++) {
		price = price * 6364136223846793005u + 1442695040888963407u;
		table[i] = price >> 40;
	}
	return table;
}

static pid_t start_printer(const char *how)
{
	char *words[] = {"true", NULL};
	pid_t child;

	if (strcmp(how, "spawn") == 0)
		return posix_spawnp(&child, "true", NULL, NULL, words, environ) ? -1 : child;
	child = fork();
	if (child == 0) {
		execvp("true", words);
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: prices LISTS MIB fork|spawn\n");
		return 2;
	}
	int lists = atoi(argv[1]);
	size_t entries = (size_t)atoi(argv[2]) << 17;
	uint64_t *table = fill_table(entries), sum = 0;

	for (int i = 0; i < lists; i++) {
		pid_t child = start_printer(argv[3]);
		int status;

		for (size_t j = 0; j < 20000; j++)
			sum += table[(j * 7919 + i) % entries];
		if (child < 0 || waitpid(child, &status, 0) < 0)
			return 1;
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
