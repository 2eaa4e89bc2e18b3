// Two threads follow routes of their own, and count the journeys in what they end at.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUTES 4096

struct route {
	struct route *next;
	volatile unsigned long journeys;
	char rest[112];
};

static long journeys;
static int hops;

static struct route *skip(struct route *at, int count) {
	while (count--)
		at = at->next;
	return at;
}

static void *travel(void *number) {
	struct route *routes = aligned_alloc(128, ROUTES * sizeof(struct route));
	for (int i = 0; i < ROUTES; i++) {
		routes[i].next = &routes[(i * 1021 + 7) % ROUTES];
		routes[i].journeys = 0;
	}
	struct route *at = routes;
	for (long i = 0; i < journeys * 10; i++) {
		at = skip(at, hops);
		at->journeys++;
	}
	printf("%ld of %ld\n", (long)(at - routes), (long)number);
	free(routes);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: route JOURNEYS HOPS\n");
		return 2;
	}
	journeys = atol(argv[1]);
	hops = atoi(argv[2]);
	pthread_t one, two;
	pthread_create(&one, NULL, travel, (void *)1);
	pthread_create(&two, NULL, travel, (void *)2);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	return 0;
}
