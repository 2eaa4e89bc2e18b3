// One thread fills blocks, another digests them: blocks go round between the two.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	unsigned long *blocks[MOST];
	int count, first;
};

static struct queue empty = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
static struct queue full = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
static long rounds, words;
static int fills, passes;

static void give(struct queue *queue, unsigned long *block) {
	pthread_mutex_lock(&queue->lock);
	queue->blocks[(queue->first + queue->count++) % MOST] = block;
	pthread_cond_signal(&queue->more);
	pthread_mutex_unlock(&queue->lock);
}

static unsigned long *take(struct queue *queue) {
	pthread_mutex_lock(&queue->lock);
	while (queue->count == 0)
		pthread_cond_wait(&queue->more, &queue->lock);
	unsigned long *block = queue->blocks[queue->first];
	queue->first = (queue->first + 1) % MOST;
	queue->count--;
	pthread_mutex_unlock(&queue->lock);
	return block;
}

static unsigned long fill(unsigned long *block, unsigned long state) {
	for (int pass = 0; pass < fills; pass++)
		for (long i = 0; i < words; i++) {
			state = state * 6364136223846793005ul + 1442695040888963407ul;
			block[i] = state;
		}
	return state;
}

static unsigned long digest(const unsigned long *block, unsigned long sum) {
	for (int pass = 0; pass < passes; pass++)
		for (long i = 0; i < words; i++)
			sum = (sum ^ block[i]) * 1099511628211ul;
	return sum;
}

static void *produce(void *unused) {
	unsigned long state = 1;
	for (long i = 0; i < rounds; i++) {
		unsigned long *block = take(&empty);
		state = fill(block, state);
		give(&full, block);
	}
	return unused;
}

int main(int argc, char **argv) {
	if (argc != 6) {
		fprintf(stderr, "usage: blocks BLOCKS ROUNDS WORDS FILLS PASSES\n");
		return 2;
	}
	int blocks = atoi(argv[1]);
	rounds = atol(argv[2]);
	words = atol(argv[3]);
	fills = atoi(argv[4]);
	passes = atoi(argv[5]);
	for (int i = 0; i < blocks && i < MOST; i++)
		give(&empty, malloc(words * sizeof(unsigned long)));
	pthread_t producer;
	pthread_create(&producer, NULL, produce, NULL);
	unsigned long sum = 0;
	for (long i = 0; i < rounds; i++) {
		unsigned long *block = take(&full);
		sum = digest(block, sum);
		give(&empty, block);
	}
	pthread_join(producer, NULL);
	printf("%lx\n", sum);
	return 0;
}
