// A client asks a server on a loopback connection. The server sends each answer
// as a header and a body: in one piece ("whole") or one after the other ("parts").
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER = 16, BODY = 200 };

static int listener, parts_until;

static void receive_all(int peer, char *data, size_t size) {
	for (size_t got = 0; got < size;) {
		ssize_t more = read(peer, data + got, size - got);
		if (more <= 0)
			exit(more == 0 ? 0 : 2);
		got += more;
	}
}

static void send_piece(int peer, const char *data, size_t size) {
	if (write(peer, data, size) != (ssize_t)size)
		exit(2);
}

static void answer(int peer, int number) {
	char message[HEADER + BODY];
	memset(message, 'x', sizeof message);
	if (number >= parts_until) {
		send_piece(peer, message, sizeof message);
		return;
	}
	send_piece(peer, message, HEADER);
	send_piece(peer, message + HEADER, BODY);
}

static void *serve(void *unused) {
	(void)unused;
	int peer = accept(listener, NULL, NULL);
	char question[32];
	for (int number = 0;; number++) {
		receive_all(peer, question, sizeof question);
		answer(peer, number);
	}
	return NULL;
}

static unsigned long weigh(const char *answer, int number) {
	unsigned long sum = number;
	for (int i = 0; i < 200000; i++)
		sum = sum * 31 + answer[i % BODY];
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: ask QUESTIONS IN_PARTS\n");
		return 2;
	}
	parts_until = atoi(argv[2]);
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
		getsockname(listener, (struct sockaddr *)&address, &size)) {
		perror("listen");
		return 2;
	}
	pthread_t server;
	pthread_create(&server, NULL, serve, NULL);
	int peer = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(peer, (struct sockaddr *)&address, size)) {
		perror("connect");
		return 2;
	}
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++) {
		char question[32] = "?", message[HEADER + BODY];
		send_piece(peer, question, sizeof question);
		receive_all(peer, message, sizeof message);
		sum += weigh(message, i);
	}
	printf("%lu\n", sum);
	return 0;
}
