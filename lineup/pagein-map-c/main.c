// A dictionary that is mapped from a file and searched. A cache
// policy of the program's own gives the file's pages back before the first passes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static size_t pages;
static unsigned long found;

static void search_words(const unsigned char *words, unsigned seed) {
	for (size_t i = 0; i < pages; i++) {
		size_t page = (i * 7919 + seed) % pages;
		unsigned long hash = 14695981039346656037UL;
		for (int at = 0; at < PAGE; at += 4)
			hash = (hash ^ words[page * PAGE + at]) * 1099511628211UL;
		found += hash & 1;
	}
}

static void begin_pass(int file, void *words, int evict) {
	if (!evict)
		return;
	madvise(words, pages * PAGE, MADV_DONTNEED);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: words FILE PASSES EVICTING\n");
		return 2;
	}
	int file = open(argv[1], O_RDONLY);
	off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
	if (size < PAGE) {
		perror(argv[1]);
		return 2;
	}
	pages = size / PAGE;
	unsigned char *words = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	if (words == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	madvise(words, size, MADV_RANDOM);
	for (int pass = 0; pass < atoi(argv[2]); pass++) {
		begin_pass(file, words, pass < atoi(argv[3]));
		search_words(words, pass * 31);
	}
	printf("%lu\n", found);
	return 0;
}
