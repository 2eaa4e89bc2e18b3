/* Two threads add to neighbouring words of a heap block for so many seconds; the block is allocated in one of several
 * ways, and its memory given away again at the end.
 *
 * heap SECONDS malloc|calloc|realloc|posix_memalign|many|follow
 *
 * many: malloc, before which ever other blocks come and go, at 48,000 addresses.
 * follow: one of the threads reads through a pointer beside the word that the other one writes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pair {
	struct pair *next;
	volatile long count, other;
};

static volatile int over;

static __attribute__((noinline)) struct pair *make_pair(const char *way)
{
	void *block = NULL;
	if (!strcmp(way, "calloc"))
		block = calloc(3, sizeof(struct pair));
	else if (!strcmp(way, "realloc"))
		block = realloc(malloc(8), 3 * sizeof(struct pair));
	else if (!strcmp(way, "posix_memalign"))
		block = posix_memalign(&block, 64, 3 * sizeof(struct pair)) ? NULL : block;
	else
		block = malloc(3 * sizeof(struct pair));
	memset(block, 0, 3 * sizeof(struct pair));
	((struct pair *)block)->next = block;
	return block;
}

/* Blocks of three sizes in turn: those of the second and third lie elsewhere. */
static void come_and_go(void)
{
	static void *blocks[16000];
	for (size_t size = 40; size <= 200; size += 80) {
		for (int i = 0; i < 16000; i++)
			blocks[i] = malloc(size);
		for (int i = 0; i < 16000; i++)
			free(blocks[i]);
	}
}

static void *add(void *to)
{
	while (!over)
		for (int i = 0; i < 1000; i++)
			__atomic_fetch_add((long *)to, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *follow(void *from)
{
	struct pair *at = from;
	while (!over)
		for (int i = 0; i < 1000; i++)
			at = *(struct pair *volatile *)&at->next;
	return at;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	double seconds = atof(argv[1]);
	if (!strcmp(argv[2], "many"))
		come_and_go();
	struct pair *pair = make_pair(argv[2]);
	pthread_t a, b;
	pthread_create(&a, NULL, add, (void *)&pair->count);
	if (!strcmp(argv[2], "follow"))
		pthread_create(&b, NULL, follow, pair);
	else
		pthread_create(&b, NULL, add, (void *)&pair->other);
	struct timespec rest = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
	nanosleep(&rest, NULL);
	over = 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	size_t size = 3 * sizeof(struct pair);
	free(pair);
	void *again = malloc(size); /* gets the same address */
	printf("%d\n", again == (void *)pair);
	free(again);
}
