/* Two threads write to words of their own in one cache line whose page is taken away again and again, so that their
 * accesses fault; a word more of the line is only read by the first.
 *
 * refault SECONDS */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static volatile long *line;
static volatile int over;

static void *write_word(void *number)
{
	long at = (long)number;
	while (!over) {
		for (int i = 0; i < 20000; i++)
			line[at]++;
		if (!at && line[7])
			abort();
		madvise((void *)line, 4096, MADV_DONTNEED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	double seconds = atof(argv[1]);
	line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t a, b;
	pthread_create(&a, NULL, write_word, (void *)0);
	pthread_create(&b, NULL, write_word, (void *)1);
	struct timespec rest = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	nanosleep(&rest, NULL);
	over = 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}
