// Renders tiles of a map and saves them, one file after the other.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TILE = 512 << 10, KEPT = 40 };

static void render_tile(unsigned char *tile, unsigned seed) {
	for (int i = 0; i < TILE; i++)
		tile[i] = (unsigned char)(seed = (seed * 1664525u + 1013904223u) ^ (seed >> 7));
}

static void save_tile(const unsigned char *tile, int number) {
	char name[32];
	snprintf(name, sizeof name, "tile-%d", number % KEPT);
	int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (file < 0 || write(file, tile, TILE) != TILE) {
		perror(name);
		exit(2);
	}
	close(file);
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: tiles NUMBER\n");
		return 2;
	}
	static unsigned char tile[TILE];
	for (int i = 0; i < atoi(argv[1]); i++) {
		render_tile(tile, i);
		save_tile(tile, i);
	}
	printf("%d\n", tile[99]);
	return 0;
}
