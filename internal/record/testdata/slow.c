/* Slow operations on known things: slow DIR ROUNDS. Each is timed by the program itself and printed as
 * "name-ROUND seconds"; then who was waited for, as "name-pid pid" and the like.
 *   fsync    of DIR/deep/data, 2 MB written before
 *   sleep    20 ms
 *   event    a read of an eventfd that a thread writes after 8 ms
 *   pipe     a read that a child answers after 15 ms
 *   late     a read of a pipe that a thread writes after 8 ms, behind 300 reads that found something
 *   recv     from a TCP server that answers after 12 ms
 *   connect  to a unix socket whose queue is full until the server accepts after 10 ms
 *   lock     a mutex whose holder changes and fsyncs DIR/deep/journal meanwhile, which is "held" */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;
static char block[1 << 20], dir[200];
static int journal;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void sleep_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};
	nanosleep(&t, 0);
}

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		_exit(1);
	}
}

#define TIMED(name, round, call)                                                                                 \
	do {                                                                                                     \
		double start = now();                                                                            \
		int good = (call);                                                                               \
		printf("%s-%d %.6f\n", name, round, now() - start);                                              \
		must(good, name);                                                                                \
	} while (0)

static int create(const char *name)
{
	char path[300];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	must(fd >= 0, path);
	return fd;
}

/* A child that does something and ends. */
static pid_t child(const char *name, void (*serve)(int, int), int fd, int rounds)
{
	fflush(stdout);
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	serve(fd, rounds);
	_exit(0);
}

static void answer_pipe(int fd, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		char x;
		must(read(fd, &x, 1) == 1, "read the question");
		sleep_ms(15);
		must(write(fd + 100, &x, 1) == 1, "answer");
	}
}

static void serve_tcp(int listener, int rounds)
{
	int fd = accept(listener, 0, 0);
	for (int i = 0; i < rounds; i++) {
		char x;
		must(recv(fd, &x, 1, 0) == 1, "recv");
		sleep_ms(12);
		must(send(fd, &x, 1, 0) == 1, "send");
	}
}

static void accept_late(int listener, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		sleep_ms(10);
		int fd = accept(listener, 0, 0);
		must(fd >= 0, "accept");
	}
}

static void pipes(int rounds)
{
	int ask[2], reply[2];
	char x = 0;
	must(pipe(ask) == 0 && pipe(reply) == 0, "pipe");
	must(dup2(reply[1], ask[0] + 100) >= 0, "dup2");
	pid_t pid = child("answerer", answer_pipe, ask[0], rounds);
	printf("pipe-pid %d\n", pid);
	for (int i = 0; i < rounds; i++) {
		must(write(ask[1], &x, 1) == 1, "ask");
		TIMED("pipe", i, read(reply[0], &x, 1) == 1);
	}
	waitpid(pid, 0, 0);
}

static void *raise_event(void *fd)
{
	unsigned long one = 1;
	prctl(PR_SET_NAME, "raiser");
	sleep_ms(8);
	must(write((int)(long)fd, &one, 8) == 8, "raise");
	return 0;
}

static void events(int rounds)
{
	int fd = eventfd(0, 0);
	for (int i = 0; i < rounds; i++) {
		unsigned long count;
		pthread_t raiser;
		must(pthread_create(&raiser, 0, raise_event, (void *)(long)fd) == 0, "thread");
		TIMED("event", i, read(fd, &count, 8) == 8);
		pthread_join(raiser, 0);
	}
}

static void late(int rounds)
{
	int fd[2];
	unsigned long x = 0;
	must(pipe(fd) == 0, "pipe");
	for (int i = 0; i < rounds; i++) {
		pthread_t raiser;
		for (int quick = 0; quick < 300; quick++)
			must(write(fd[1], &x, 8) == 8 && read(fd[0], &x, 8) == 8, "quick read");
		must(pthread_create(&raiser, 0, raise_event, (void *)(long)fd[1]) == 0, "thread");
		TIMED("late", i, read(fd[0], &x, 8) == 8);
		pthread_join(raiser, 0);
	}
}

static void sockets(int rounds)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	char x = 0;
	/* above the ports that connections are given: the numbers alone would tell the wrong side */
	for (int port = 61000; port < 61100; port++) {
		at.sin_port = htons(port);
		if (bind(listener, (void *)&at, length) == 0)
			break;
	}
	must(listen(listener, 4) == 0, "listen");
	pid_t pid = child("server", serve_tcp, listener, rounds);
	printf("recv-pid %d\nport %d\n", pid, ntohs(at.sin_port));
	must(connect(fd, (void *)&at, length) == 0, "connect");
	for (int i = 0; i < rounds; i++) {
		must(send(fd, &x, 1, 0) == 1, "send");
		TIMED("recv", i, recv(fd, &x, 1, 0) == 1);
	}
	waitpid(pid, 0, 0);
}

static void unix_sockets(int rounds)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), first = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.80s/socket", dir);
	must(bind(listener, (void *)&at, sizeof(at)) == 0 && listen(listener, 0) == 0, at.sun_path);
	must(connect(first, (void *)&at, sizeof(at)) == 0, "first connect");
	pid_t pid = child("acceptor", accept_late, listener, rounds);
	printf("connect-pid %d\n", pid);
	for (int i = 0; i < rounds; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		TIMED("connect", i, connect(fd, (void *)&at, sizeof(at)) == 0);
	}
	waitpid(pid, 0, 0);
}

static void *hold(void *round)
{
	prctl(PR_SET_NAME, "holder");
	pthread_mutex_lock(&lock);
	printf("holder-%ld %d\n", (long)round, gettid());
	must(fchmod(journal, 0600 + ((long)round & 7)) == 0, "fchmod"); /* nothing to write but the journal */
	sem_post(&held);
	sleep_ms(2); /* the other one is at the lock by then */
	TIMED("held", (int)(long)round, fsync(journal) == 0);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void locks(int rounds)
{
	journal = create("journal");
	sem_init(&held, 0, 0);
	for (long i = 0; i < rounds; i++) {
		pthread_t holder;
		must(pthread_create(&holder, 0, hold, (void *)i) == 0, "thread");
		sem_wait(&held);
		TIMED("lock", (int)i, pthread_mutex_lock(&lock) == 0);
		pthread_mutex_unlock(&lock);
		pthread_join(holder, 0);
	}
	printf("mutex %lu\n", (unsigned long)&lock);
}

int main(int argc, char **argv)
{
	must(argc == 3, "usage: slow DIR ROUNDS");
	snprintf(dir, sizeof(dir), "%s/deep", argv[1]);
	int rounds = atoi(argv[2]);
	must(mkdir(dir, 0755) == 0, dir);
	int data = create("data");
	for (int i = 0; i < rounds; i++) {
		must(write(data, block, sizeof(block)) == sizeof(block), "write");
		must(write(data, block, sizeof(block)) == sizeof(block), "write");
		TIMED("fsync", i, fsync(data) == 0);
		TIMED("sleep", i, (sleep_ms(20), 1));
	}
	pipes(rounds);
	events(rounds);
	late(rounds);
	sockets(rounds);
	unix_sockets(rounds);
	locks(rounds);
	return 0;
}
