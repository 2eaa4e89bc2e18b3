// Keeps counters of sensors in a file: updated in place, while a second thread sees to it that little stays unwritten.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

static int file;
static atomic_int done;

static void *trickle(void *unused) {
	while (!done) {
		sync_file_range(file, 0, PAGE * PAGES, SYNC_FILE_RANGE_WRITE);
		usleep(8000);
	}
	return unused;
}

static unsigned long measure(unsigned char *page, int number) {
	unsigned long sum = (unsigned long)number;
	for (int pass = 0; pass < 30; pass++)
		for (int i = 0; i < PAGE; i++)
			sum = sum * 31 + (page[i] ^= (unsigned char)(sum >> 9));
	return sum;
}

static void store_counter(const unsigned char *page, int number) {
	if (pwrite(file, page, PAGE, (off_t)(number % PAGES) * PAGE) != PAGE)
		abort();
}

int main(int argc, char **argv) {
	if (argc != 3 || (file = open(argv[1], O_RDWR | O_CREAT, 0644)) < 0) {
		fprintf(stderr, "usage: sensors FILE UPDATES\n");
		return 2;
	}
	unsigned char page[PAGE];
	memset(page, 7, sizeof page);
	unsigned long sum = 0;
	pthread_t second;
	pthread_create(&second, NULL, trickle, NULL);
	for (int i = 0; i < atoi(argv[2]); i++) {
		sum += measure(page, i);
		store_counter(page, i);
	}
	done = 1;
	pthread_join(second, NULL);
	printf("%lu\n", sum);
	return 0;
}
