/* Writes and reads a device past the page cache, one request at a time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int writes = atoi(argv[2]), write_bytes = atoi(argv[3]), reads = atoi(argv[4]), read_bytes = atoi(argv[5]);
	int file = open(argv[1], O_RDWR | O_DIRECT);
	char *buffer;
	if (argc != 6 || file < 0 || posix_memalign((void **)&buffer, 4096, write_bytes))
		return 1;
	memset(buffer, 7, write_bytes);
	double start = now();
	for (int i = 0; i < writes; i++)
		if (pwrite(file, buffer, write_bytes, (off_t)i * write_bytes) != write_bytes)
			return 2;
	printf("write_s %.9f\n", now() - start);
	start = now();
	for (int i = 0; i < reads; i++)
		if (pread(file, buffer, read_bytes, (off_t)i * read_bytes) != read_bytes)
			return 3;
	printf("read_s %.9f\n", now() - start);
	return fsync(file) ? 4 : 0;
}
