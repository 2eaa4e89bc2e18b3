// Sorts numbers while a neighbour, started by the program itself, uses a CPU in bursts at random moments.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 20000 };

static int compare(const void *a, const void *b) {
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

static void make_noise(void) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	srand((unsigned)time(NULL) ^ (unsigned)getpid());
	for (;;) {
		for (volatile int i = rand() % 20000000; i > 0; i--)
			;
		usleep(rand() % 30000);
	}
}

static unsigned sort_numbers(unsigned seed) {
	static unsigned numbers[NUMBERS];
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = seed = seed * 1664525u + 1013904223u;
	qsort(numbers, NUMBERS, sizeof *numbers, compare);
	return numbers[NUMBERS / 2];
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: sort ROUNDS\n");
		return 2;
	}
	pid_t neighbour = fork();
	if (neighbour == 0)
		make_noise();
	unsigned sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++)
		sum += sort_numbers(i);
	kill(neighbour, SIGKILL);
	waitpid(neighbour, NULL, 0);
	printf("%u\n", sum);
	return 0;
}
