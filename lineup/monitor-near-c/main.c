// Two processes hand a token to and fro through pipes and do a little work each time.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int steps;

static unsigned long shuffle(unsigned long seed) {
	for (int i = 0; i < steps; i++)
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed;
}

static void pass_token(int from, int to, int rounds, int first) {
	unsigned long token = 1;
	for (int i = 0; i < rounds; i++) {
		if (first && write(to, &token, sizeof token) != sizeof token)
			exit(2);
		if (read(from, &token, sizeof token) != sizeof token)
			exit(2);
		token = shuffle(token);
		if (!first && write(to, &token, sizeof token) != sizeof token)
			exit(2);
	}
}

int main(int argc, char **argv) {
	int there[2], back[2];
	if (argc != 3 || pipe(there) || pipe(back)) {
		fprintf(stderr, "usage: token ROUNDS STEPS\n");
		return 2;
	}
	int rounds = atoi(argv[1]);
	steps = atoi(argv[2]);
	pid_t child = fork();
	if (child == 0) {
		pass_token(there[0], back[1], rounds, 0);
		_exit(0);
	}
	pass_token(back[0], there[1], rounds, 1);
	waitpid(child, NULL, 0);
	return 0;
}
