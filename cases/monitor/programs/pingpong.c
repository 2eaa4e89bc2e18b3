/* Two processes hand a byte to and fro over pipes, on one CPU: two context switches a round trip.
 * With two directories of cgroups, each process goes into its own one, so that every switch crosses
 * cgroups.
 *
 *	pingpong ROUNDS [CGROUP CGROUP] */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void join(const char *cgroup)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	FILE *file = fopen(path, "w");
	if (!file || fprintf(file, "0") < 0 || fclose(file)) {
		perror(path);
		exit(2);
	}
}

static void play(long rounds, int in, int out, int first)
{
	char ball = 0;
	while (rounds--) {
		if (first && write(out, &ball, 1) != 1)
			exit(2);
		if (read(in, &ball, 1) != 1)
			exit(2);
		if (!first && write(out, &ball, 1) != 1)
			exit(2);
	}
}

int main(int count, char **words)
{
	long rounds = count > 1 ? atol(words[1]) : 100000;
	int there[2], back[2], status;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back))
		return perror("pingpong"), 2;
	pid_t child = fork();
	if (child < 0)
		return perror("fork"), 2;
	if (count > 3)
		join(words[child ? 2 : 3]);
	if (!child) {
		play(rounds, there[0], back[1], 0);
		return 0;
	}
	play(rounds, back[0], there[1], 1);
	return waitpid(child, &status, 0) != child || status;
}
