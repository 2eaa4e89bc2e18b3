/* Reads a byte again and again until SIGTERM, then prints how often: "reads N". */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void end(int signal)
{
	over = signal;
}

int main(void)
{
	struct sigaction action = {.sa_handler = end};
	long reads = 0;
	char byte;
	int fd = open("/dev/zero", O_RDONLY);
	if (fd < 0 || sigaction(SIGTERM, &action, 0))
		return 1;
	while (!over) {
		if (read(fd, &byte, 1) != 1)
			return 1;
		reads++;
	}
	return printf("reads %ld\n", reads) < 0;
}
