/* serve PORT|PATH [one]: one thread a connection, HTTP/1.1, over TCP or a unix socket. /sleep naps 3 ms, /spin runs 2 ms, /lock waits for a mutex that a
 * background thread holds half of the time, /timed waits 3 ms for a condition that never comes, as a JVM sleeps, /late sleeps 6 ms after its answer, before it reads what comes next.
 * Each answer says how long its request took at least: from when the kernel got it until just before the answer. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void nap(long ms)
{
	struct timespec time = {0, ms * 1000000};
	nanosleep(&time, 0);
}

/* A sleep as the JVM's: nobody else knows of the condition. */
static void timed(long ms)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	while (!pthread_cond_timedwait(&never, &mutex, &until))
		;
	pthread_mutex_unlock(&mutex);
}

static void spin(long ms)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	long until = now.tv_sec * 1000000000 + now.tv_nsec + ms * 1000000;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec * 1000000000 + now.tv_nsec < until);
}

static void *hold(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		nap(4);
		pthread_mutex_unlock(&lock);
		nap(4);
	}
}

/* Reads a request, and says when the kernel got it. */
static ssize_t receive(int connection, char *into, size_t size, struct timespec *at)
{
	char control[256];
	struct iovec vector = {into, size};
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	ssize_t length = recvmsg(connection, &message, 0);
	clock_gettime(CLOCK_REALTIME, at);
	for (struct cmsghdr *each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each))
		if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SO_TIMESTAMPNS)
			memcpy(at, CMSG_DATA(each), sizeof *at);
	return length;
}

static ssize_t answer(int connection, const char *status, const char *body, const struct timespec *since)
{
	char text[256];
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	long took = (now.tv_sec - since->tv_sec) * 1000000000 + now.tv_nsec - since->tv_nsec;
	int length = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: 2\r\nX-Took: %ld\r\n\r\n%s", status,
			      took, body);
	return write(connection, text, length);
}

static void *serve(void *of)
{
	int connection = (long)of, one = 1;
	char request[4096];
	struct timespec came;
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(connection, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
	for (;;) {
		ssize_t length = receive(connection, request, sizeof request - 1, &came);
		if (length <= 0)
			break;
		request[length] = 0;
		int wrong = !strncmp(request, "GET /wrong", 10);
		if (!strncmp(request, "GET /sleep", 10))
			nap(3);
		else if (!strncmp(request, "GET /timed", 10))
			timed(3);
		else if (!strncmp(request, "GET /spin", 9))
			spin(2);
		else if (!strncmp(request, "GET /lock", 9)) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
		if (answer(connection, wrong ? "503 No" : "200 OK", wrong ? "no" : "ok", &came) < 0)
			break;
		if (!strncmp(request, "GET /late", 9))
			nap(6);
	}
	close(connection);
	return 0;
}

static int listens(const char *where)
{
	struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = htons(atoi(where)),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	int is_path = where[0] == '/', one = 1;
	int listener = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
	strncpy(path.sun_path, where, sizeof path.sun_path - 1);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, is_path ? (void *)&path : (void *)&port, is_path ? sizeof path : sizeof port) ||
	    listen(listener, 128))
		perror("listen"), exit(1);
	return listener;
}

int main(int count, char **words)
{
	int listener = listens(words[1]);
	pthread_t thread;
	pthread_create(&thread, 0, hold, 0);
	puts("ready");
	fflush(stdout);
	for (;;) {
		long connection = accept(listener, 0, 0);
		if (connection >= 0 && pthread_create(&thread, 0, serve, (void *)connection) == 0)
			pthread_detach(thread);
		if (count > 2) { /* one connection, and no more */
			close(listener);
			pause();
		}
	}
}
