// Word counter: reads a file through a buffer of the given size, splits it
// into words and counts them in a small hash table.
//
//   usage: PROGRAM FILE_MB BUFFER_BYTES
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t counts[1 << 14];
static uint32_t word_hash;

__attribute__((noinline)) static void count_words(const char *text, ssize_t length)
{
	for (ssize_t i = 0; i < length; i++) {
		if (text[i] == ' ' || text[i] == '\n') {
			counts[word_hash >> 18]++;
			word_hash = 0;
		} else {
			word_hash = (word_hash ^ (unsigned char)text[i]) * 2654435761u;
		}
	}
}

__attribute__((noinline)) static ssize_t fill_buffer(int file, char *buffer, size_t size)
{
	ssize_t n = read(file, buffer, size);

	if (n < 0) {
		perror("read words");
		exit(1);
	}
	return n;
}

static int make_words(const char *path, long megabytes)
{
	static char block[1 << 20];
	int file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	uint32_t seed = 7;

	if (file < 0) {
		perror("create words");
		exit(1);
	}
	unlink(path);
	for (size_t i = 0; i < sizeof block; i++) {
		seed = seed * 1664525 + 1013904223;
		block[i] = (seed >> 24) % 6 == 0 ? ' ' : 'a' + (seed >> 16) % 26;
	}
	for (long i = 0; i < megabytes; i++)
		if (write(file, block, sizeof block) != (ssize_t)sizeof block) {
			perror("write words");
			exit(1);
		}
	lseek(file, 0, SEEK_SET);
	return file;
}

int main(int argc, char **argv)
{
	char path[64];
	uint64_t words = 0;
	ssize_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: %s FILE_MB BUFFER_BYTES\n", argv[0]);
		return 2;
	}
	size_t size = strtoul(argv[2], NULL, 10);
	char *buffer = malloc(size);
	snprintf(path, sizeof path, "/tmp/words-%d", (int)getpid());
	int file = make_words(path, atol(argv[1]));
	while ((n = fill_buffer(file, buffer, size)) > 0)
		count_words(buffer, n);
	for (int i = 0; i < 1 << 14; i++)
		words += counts[i];
	printf("%lu words\n", (unsigned long)words);
	free(buffer);
	return 0;
}
