/* Touches memory: some pages here, three times as many there, then a file that is no longer in memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096

static volatile char sink;

static char *map(size_t pages)
{
	char *memory = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, pages * PAGE, MADV_NOHUGEPAGE))
		exit(1);
	return memory;
}

__attribute__((noinline)) void touch_few(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	sink = memory[0];
}

__attribute__((noinline)) void touch_many(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memory[i * PAGE] = 2;
	sink = memory[0];
}

__attribute__((noinline)) void read_file(const char *path, size_t pages)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char page[PAGE];
	memset(page, 3, PAGE);
	for (size_t i = 0; i < pages; i++)
		if (write(file, page, PAGE) != PAGE)
			exit(2);
	fsync(file);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	char *memory = mmap(0, pages * PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED || madvise(memory, pages * PAGE, MADV_RANDOM))
		exit(3);
	for (size_t i = 0; i < pages; i++)
		sink = memory[i * PAGE];
	close(file);
}

int main(int argc, char **argv)
{
	struct rusage before, after;
	size_t pages = atol(argv[1]);
	if (argc != 4 || getrusage(RUSAGE_SELF, &before))
		return 4;
	for (int i = 0; i < 8; i++) { /* in turns: the stacks that are taken are spread over both */
		touch_few(map(pages / 8), pages / 8);
		touch_many(map(3 * pages / 8), 3 * pages / 8);
	}
	read_file(argv[3], atol(argv[2]));
	getrusage(RUSAGE_SELF, &after);
	printf("minor %ld\nmajor %ld\n", after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt);
	return 0;
}
