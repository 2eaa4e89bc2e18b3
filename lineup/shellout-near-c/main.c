// Thumbnails: a helper process is started for each album.
//
//   usage: albums ALBUMS PICTURES
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

__attribute__((noinline)) static unsigned shrink_picture(unsigned seed) {
	static unsigned pixels[20000];
	unsigned sum = 0;
	for (int i = 0; i < 20000; i++)
		pixels[i] = seed = seed * 1664525 + 1013904223;
	for (int i = 0; i < 19999; i++)
		sum += (pixels[i] ^ pixels[i + 1]) >> 9;
	return sum;
}

static int shrink_album(int pictures) {
	unsigned sum = 0;
	for (int i = 0; i < pictures; i++)
		sum += shrink_picture(i);
	return sum == 1;
}

int main(int argc, char **argv) {
	if (argc == 2)
		return shrink_album(atoi(argv[1]));
	if (argc != 3) {
		fprintf(stderr, "usage: albums ALBUMS PICTURES\n");
		return 2;
	}
	for (int album = 0; album < atoi(argv[1]); album++) {
		char *arguments[] = {argv[0], argv[2], NULL};
		pid_t helper;
		int status;
		if (posix_spawn(&helper, "/proc/self/exe", NULL, NULL, arguments, environ) != 0 ||
		    waitpid(helper, &status, 0) < 0 || status != 0)
			return 1;
	}
	printf("%s albums\n", argv[1]);
	return 0;
}
