/* restless PORT HOW: a thread for each connection. HOW: plain; threads: beside 2,000 threads that sleep; fork: a master
 * whose two workers take ten connections each, one after the other, and are replaced. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void *serve(void *of)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char request[4096];
	int connection = (long)of, one = 1;
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	while (read(connection, request, sizeof request) > 0)
		if (write(connection, answer, sizeof answer - 1) < 0)
			break;
	close(connection);
	return 0;
}

static void *rest(void *of)
{
	for (;;)
		pause();
	return of;
}

static void work(int listener)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 10; i++) {
		long connection = accept(listener, 0, 0);
		if (connection >= 0)
			serve((void *)connection);
	}
	exit(0);
}

int main(int count, char **words)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct rlimit files;
	pthread_attr_t small;
	pthread_t thread;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (void *)&address, sizeof address) || listen(listener, 4096))
		return 1;
	for (int i = 0; i < 2000 && !strcmp(words[2], "threads"); i++)
		if (pthread_create(&thread, &small, rest, 0))
			return 2;
	for (int workers = 0; !strcmp(words[2], "fork"); workers--) {
		for (; workers < 2; workers++)
			if (!fork())
				work(listener);
		wait(0);
	}
	for (;;) {
		long connection = accept(listener, 0, 0);
		if (connection >= 0 && !pthread_create(&thread, &small, serve, (void *)connection))
			pthread_detach(thread);
	}
}
