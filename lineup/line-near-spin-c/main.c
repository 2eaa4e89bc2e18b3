// Hands out blocks of pools that spin locks guard: one pool for all threads, one for each, or one
// for each with the locks side by side.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOLS 64

struct pool {
	long taken;
	char apart[120];
};

static struct pool pools[POOLS];
static pthread_spinlock_t locks[POOLS * 32] __attribute__((aligned(128)));
static int stride = 32, common;
static long blocks;

__attribute__((noinline)) static void take(int number, unsigned long size) {
	pthread_spinlock_t *lock = &locks[number * stride];
	pthread_spin_lock(lock);
	pools[number].taken += size;
	pthread_spin_unlock(lock);
}

static void *serve(void *argument) {
	int number = common ? 0 : (int)(long)argument;
	unsigned long state = 1;
	for (long i = 0; i < blocks; i++) {
		state = state * 6364136223846793005ul + 1442695040888963407ul;
		take(number, state >> 60);
	}
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t threads[2];
	if (argc != 3) {
		fprintf(stderr, "usage: main own|common|beside BLOCKS\n");
		return 2;
	}
	common = !strcmp(argv[1], "common");
	stride = !strcmp(argv[1], "beside") ? 1 : 32;
	blocks = atol(argv[2]);
	for (int i = 0; i < POOLS * 32; i++)
		pthread_spin_init(&locks[i], PTHREAD_PROCESS_PRIVATE);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld\n", pools[0].taken, pools[1].taken);
}
