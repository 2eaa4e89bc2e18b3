// Prices a list of options; with "helper" a second process computes statistics
// of its own on the same CPU meanwhile.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long price_option(unsigned long seed) {
	for (int step = 0; step < 2000; step++)
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed >> 33;
}

static void count_forever(void) {
	prctl(PR_SET_NAME, "statistics");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned long i = 0;; i++)
		;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: prices OPTIONS alone|helper\n");
		return 2;
	}
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	sched_setaffinity(0, sizeof one, &one);
	pid_t helper = 0;
	if (strcmp(argv[2], "helper") == 0) {
		helper = fork();
		if (helper == 0)
			count_forever();
	}
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++)
		sum += price_option(i);
	if (helper > 0) {
		kill(helper, SIGKILL);
		waitpid(helper, NULL, 0);
	}
	printf("%lu\n", sum);
	return 0;
}
