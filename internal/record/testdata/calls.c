/* Makes a known number of system calls: getppid N, write M of K bytes, close of a bad descriptor E;
 * two threads share the work of getppid so that two CPUs count at once. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long each;

static void *ask(void *unused)
{
	for (long i = 0; i < each; i++)
		syscall(SYS_getppid);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	each = atol(argv[1]) / 2;
	long writes = atol(argv[2]), bytes = atol(argv[3]), failures = atol(argv[4]);
	pthread_t other;
	char *buffer = calloc(1, bytes);
	int fd = open("/dev/null", O_WRONLY);
	if (fd < 0 || !buffer || pthread_create(&other, 0, ask, 0))
		return 1;
	ask(0);
	for (long i = 0; i < writes; i++)
		if (write(fd, buffer, bytes) != bytes)
			return 1;
	for (long i = 0; i < failures; i++)
		if (close(-1) == 0)
			return 1;
	pthread_join(other, 0);
	return 0;
}
