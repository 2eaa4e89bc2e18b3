/* Waits for some hundred microseconds again and again in one read(), by turns of a pipe and of an eventfd: one
 * place in the program, two in the kernel. Prints how long, as "name seconds", and "calm stays": how many came
 * behind forty in a row that took less than 800 us. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int go[2], answer[2], event;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *reply(void *unused)
{
	uint64_t one = 1;
	char which;
	while (read(go[0], &which, 1) == 1) {
		struct timespec t = {0, which == 'p' ? 100000 : 300000};
		nanosleep(&t, 0);
		if (write(which == 'p' ? answer[1] : event, &one, 8) != 8)
			exit(1);
	}
	return unused;
}

__attribute__((noinline, noclone)) static double await(int from)
{
	uint64_t word;
	double start = now();
	if (read(from, &word, 8) != 8)
		exit(1);
	return now() - start;
}

int main(int argc, char **argv)
{
	double waited[2] = {0, 0};
	long row = 0, calm = 0;
	pthread_t thread;
	if (argc != 2 || pipe(go) || pipe(answer) || (event = eventfd(0, 0)) < 0)
		return 2;
	pthread_create(&thread, 0, reply, 0);
	for (double end = now() + atof(argv[1]); now() < end;)
		for (int i = 0; i < 2; i++) {
			if (write(go[1], i ? "e" : "p", 1) != 1)
				return 1;
			double took = await(i ? event : answer[0]);
			waited[i] += took;
			row = took < 800e-6 ? row + 1 : 0;
			calm += row > 40;
		}
	close(go[1]);
	pthread_join(thread, 0);
	printf("pipe %.6f\nevent %.6f\ncalm %ld\n", waited[0], waited[1], calm);
	return 0;
}
