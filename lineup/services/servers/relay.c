// A relay that answers requests over HTTP: relay PORT TURNS. Each connection has a thread, which asks a helper thread
// for each part of an answer through a pipe and waits for it, TURNS times.
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 4096 };

static int turns;

struct pair {
	int ask[2], answer[2];
};

static unsigned long price(unsigned long part) {
	for (int i = 0; i < 300; i++)
		part = part * 6364136223846793005UL + 1442695040888963407UL;
	return part;
}

static void *look_up(void *given) {
	struct pair *pair = given;
	unsigned long part;
	while (read(pair->ask[0], &part, sizeof part) == sizeof part) {
		part = price(part);
		if (write(pair->answer[1], &part, sizeof part) != sizeof part)
			break;
	}
	close(pair->ask[0]);
	close(pair->answer[1]);
	return NULL;
}

static unsigned long gather(struct pair *pair) {
	unsigned long part = 1;
	for (int i = 0; i < turns; i++)
		if (write(pair->ask[1], &part, sizeof part) != sizeof part ||
		    read(pair->answer[0], &part, sizeof part) != sizeof part)
			return 0;
	return part;
}

static void *serve(void *given) {
	int client = (int)(long)given;
	struct pair *pair = calloc(1, sizeof *pair);
	pthread_t helper;
	char head[HEAD], body[64], answer[256];
	size_t got = 0;
	if (!pair || pipe(pair->ask) || pipe(pair->answer) || pthread_create(&helper, NULL, look_up, pair))
		exit(2);
	for (;;) {
		ssize_t more = read(client, head + got, HEAD - 1 - got);
		if (more <= 0)
			break;
		head[got += more] = 0;
		if (!strstr(head, "\r\n\r\n"))
			continue;
		got = 0;
		int size = snprintf(body, sizeof body, "%lu\n", gather(pair));
		int length = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
		if (write(client, answer, length) != length)
			break;
	}
	close(client);
	close(pair->ask[1]);
	pthread_join(helper, NULL);
	close(pair->answer[0]);
	free(pair);
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: relay PORT TURNS\n");
		return 2;
	}
	turns = atoi(argv[2]);
	signal(SIGPIPE, SIG_IGN);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) {
		perror("listen");
		return 2;
	}
	for (;;) {
		int client = accept(listener, NULL, NULL);
		pthread_t thread;
		if (client >= 0 && pthread_create(&thread, NULL, serve, (void *)(long)client) == 0)
			pthread_detach(thread);
	}
}
