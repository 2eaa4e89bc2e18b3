// One thread follows a ring of routes, another one counts what each of them carries.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUTES 4

struct route {
	_Alignas(256) struct route *next;
	atomic_ulong word[31];
};

static struct route *routes;
static long journeys;
static int slot;
static atomic_int over;

static struct route *skip(struct route *at, int hops) {
	while (hops--)
		at = at->next;
	return at;
}

static void count(struct route *at) {
	atomic_fetch_add_explicit(&at->word[slot], 1, memory_order_relaxed);
}

static void *carry(void *unused) {
	for (unsigned long i = 0; !over; i++)
		count(&routes[i % ROUTES]);
	return unused;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: route JOURNEYS SLOT\n");
		return 2;
	}
	journeys = atol(argv[1]);
	slot = atoi(argv[2]) % 31;
	routes = aligned_alloc(256, ROUTES * sizeof(struct route));
	for (int i = 0; i < ROUTES; i++) {
		routes[i].next = &routes[(i + 1) % ROUTES];
		for (int j = 0; j < 31; j++)
			routes[i].word[j] = 0;
	}
	pthread_t carrier;
	pthread_create(&carrier, NULL, carry, NULL);
	struct route *at = routes;
	for (long i = 0; i < journeys; i++)
		at = skip(at, 100);
	over = 1;
	pthread_join(carrier, NULL);
	printf("%ld\n", (long)(at - routes));
	return 0;
}
