/* A chain of waits over named pipes: "asker" waits for "middle", who waits for "source", who sleeps 5 ms.
 * chain FOLDER SECONDS ROLES, with ROLES of a, m and s: the threads of this process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int to_middle, to_asker;
static volatile int over;

static int fifo(const char *folder, const char *name)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	mkfifo(path, 0600);
	return open(path, O_RDWR);
}

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, 0);
}

static void *source(void *unused)
{
	while (!over) {
		sleep_ms(5);
		if (write(to_middle, "x", 1) != 1)
			exit(1);
	}
	return unused;
}

static void *middle(void *unused)
{
	char x;
	while (read(to_middle, &x, 1) == 1)
		if (write(to_asker, &x, 1) != 1)
			exit(1);
	return unused;
}

static void *asker(void *unused)
{
	char x;
	while (!over && read(to_asker, &x, 1) == 1)
		;
	return unused;
}

static void start(const char *roles, char role, const char *name, void *(*run)(void *))
{
	pthread_t thread;
	if (!strchr(roles, role))
		return;
	if (pthread_create(&thread, 0, run, 0))
		exit(1);
	pthread_setname_np(thread, name);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	to_middle = fifo(argv[1], "to-middle");
	to_asker = fifo(argv[1], "to-asker");
	if (to_middle < 0 || to_asker < 0)
		return 1;
	start(argv[3], 'a', "asker", asker);
	start(argv[3], 'm', "middle", middle);
	start(argv[3], 's', "source", source);
	sleep_ms(atof(argv[2]) * 1000);
	over = 1;
	exit(0);
}
