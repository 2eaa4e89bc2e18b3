// A node of a service with the structure of Klass in JDK-8180450: a cache of the last answer beside the pointer to the
// list that is searched when the cache has another one. Two threads ask for two things in turn, so that the cache is
// written all the time; who reads the pointer waits for that line where both are on it. Where the object lies depends
// on what was allocated before: SEED.
//
//	cc -O2 -g -pthread -o node node.c && ./node SEED PORT
//
// It prints where the object lies, modulo a cache line, and answers a byte for each request, on a thread for each
// connection: serve-0, serve-1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHECKS = 20000, SUPERS = 16, OTHERS = 4, LINE = 64 };

struct klass {
	uint64_t name;
	uint64_t *volatile secondary_super_cache;
	uint64_t *volatile *volatile secondary_supers;
	uint64_t rest[5];
};

static struct klass *value;
static uint64_t *volatile supers[SUPERS];
static uint64_t answers[SUPERS];
static uint64_t others[OTHERS]; // that it has not: the whole list is searched, nothing is written

// is_a is the check as HotSpot's code makes it.
__attribute__((noinline)) static int is_a(struct klass *k, uint64_t *super)
{
	if (k->secondary_super_cache == super)
		return 1;
	uint64_t *volatile *list = k->secondary_supers;
	for (int i = 0; i < SUPERS; i++) {
		if (list[i] == super) {
			k->secondary_super_cache = super;
			return 1;
		}
	}
	return 0;
}

static void *serve(void *argument)
{
	int socket = (int)(intptr_t)argument;
	char request[16];
	volatile int hits = 0;
	while (read(socket, request, sizeof request) > 0) {
		for (int i = 0; i < CHECKS; i++) {
			hits += is_a(value, supers[SUPERS - 2]) + is_a(value, supers[SUPERS - 1]);
			for (int j = 0; j < OTHERS; j++)
				hits += is_a(value, &others[j]);
		}
		if (write(socket, "k", 1) != 1)
			break;
	}
	close(socket);
	return NULL;
}

int main(int count, char **words)
{
	if (count != 3) {
		fprintf(stderr, "usage: node SEED PORT\n");
		return 2;
	}
	srand(atoi(words[1]));
	char *room = aligned_alloc(LINE, 64 * LINE);
	int at = rand() % (32 * LINE / 8) * 8; // any word of some lines
	value = (struct klass *)(room + at);
	for (int i = 0; i < SUPERS; i++)
		supers[i] = &answers[i];
	value->secondary_supers = supers;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[2])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 50)) {
		perror("node");
		return 2;
	}
	printf("class at %d\n", at % LINE);
	fflush(stdout);
	for (unsigned char turn = 0;;) {
		int client = accept(server, NULL, NULL);
		if (client < 0)
			return 1;
		setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		pthread_t thread;
		pthread_create(&thread, NULL, serve, (void *)(intptr_t)client);
		char name[16];
		snprintf(name, sizeof name, "serve-%d", turn++);
		pthread_setname_np(thread, name);
		pthread_detach(thread);
	}
}
