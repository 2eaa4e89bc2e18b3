/* TILES kept|fresh: maps, fills and unmaps 64 KiB for each tile, while another thread fills an index of 64 MB again and
 * again, in memory that it keeps or maps anew. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { index_size = 64 << 20, scratch_size = 64 << 10, page = 4096 };

static volatile int done;

static char *map(size_t size)
{
	char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

static void fill_index(char *index)
{
	for (int at = 0; at < index_size; at += page)
		index[at]++;
}

__attribute__((noinline)) static void rebuild_index(void)
{
	char *index = map(index_size);
	madvise(index, index_size, MADV_NOHUGEPAGE);
	mlock(index, index_size);
	fill_index(index);
	munmap(index, index_size);
}

static void *maintain(void *kept)
{
	while (!done) {
		if (kept)
			fill_index(kept);
		else
			rebuild_index();
		usleep(20000);
	}
	return 0;
}

__attribute__((noinline)) static int fill_scratch(int with)
{
	char *scratch = map(scratch_size);
	for (int at = 0; at < scratch_size; at += page)
		scratch[at] = with;
	int last = scratch[scratch_size - page];
	munmap(scratch, scratch_size);
	return last;
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	pthread_t thread;
	pthread_create(&thread, 0, maintain, strcmp(words[2], "kept") ? 0 : map(index_size));
	long sum = 0;
	for (int tile = 0; tile < atoi(words[1]); tile++) {
		sum += fill_scratch(tile);
		for (volatile int i = 0; i < 20000; i++)
			sum += i;
	}
	done = 1;
	pthread_join(thread, 0);
	printf("%ld\n", sum);
}
