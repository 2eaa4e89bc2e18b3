// Ranks players by the games they won against each other.
#include <stdio.h>
#include <stdlib.h>

#define PLAYERS 400

static int won[PLAYERS][PLAYERS];
static double rank[PLAYERS];

static void play(int seed) {
	for (int a = 0; a < PLAYERS; a++)
		for (int b = 0; b < PLAYERS; b++)
			won[a][b] = (a * 31 + b * 17 + seed) % 7;
}

static void settle(int rounds) {
	for (int round = 0; round < rounds; round++)
		for (int a = 0; a < PLAYERS; a++) {
			double sum = 0;
			for (int b = 0; b < PLAYERS; b++)
				sum += won[a][b] * rank[b];
			rank[a] = 1 + sum / (PLAYERS * 8);
		}
}

int main(int argc, char **argv) {
	if (argc != 3) {
		fprintf(stderr, "usage: ranks SEASONS ROUNDS\n");
		return 2;
	}
	for (int season = 0; season < atoi(argv[1]); season++) {
		play(season);
		settle(atoi(argv[2]));
	}
	printf("%f\n", rank[7]);
	return 0;
}
