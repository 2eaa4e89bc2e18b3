// A parser keeps what it has done in a variable of its thread. A feeder posts there how much there is to do.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct progress {
	_Alignas(256) atomic_ulong done;
	atomic_ulong word[31];
};

static __thread struct progress progress;

static _Atomic(struct progress *) posted;
static long records;
static int slot;

static unsigned parse(unsigned state, int steps) {
	for (int i = 0; i < steps; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

static unsigned finish(unsigned state) {
	atomic_fetch_add_explicit(&progress.done, state & 3, memory_order_relaxed);
	return state;
}

static void post(atomic_ulong *mailbox, unsigned state) {
	atomic_fetch_add_explicit(mailbox, state & 3, memory_order_relaxed);
}

static void *work(void *unused) {
	unsigned state = 1;
	posted = &progress;
	for (long i = 0; i < records; i++)
		state = finish(parse(state, 4));
	printf("%lu\n", (unsigned long)progress.done);
	return unused;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: mailbox RECORDS SLOT\n");
		return 2;
	}
	records = atol(argv[1]);
	slot = atoi(argv[2]) % 31;
	pthread_t parser;
	pthread_create(&parser, NULL, work, NULL);
	while (!posted)
		;
	atomic_ulong *mailbox = &posted->word[slot];
	unsigned state = 7;
	for (long i = 0; i < records * 9 / 10; i++) {
		state = parse(state, 4);
		post(mailbox, state);
	}
	pthread_join(parser, NULL);
	return 0;
}
