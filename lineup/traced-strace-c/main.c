// Reads a configuration many times, with other work between.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long parse_config(int file) {
	char text[4096];
	ssize_t size = pread(file, text, sizeof text, 0);
	unsigned long sum = 0;
	for (ssize_t i = 0; i < size; i++)
		sum = sum * 33 + text[i];
	return sum;
}

static unsigned long plan_route(unsigned long seed) {
	for (int i = 0; i < 30000; i++)
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed;
}

int main(int argc, char **argv) {
	int file = argc == 2 ? open("/proc/self/exe", O_RDONLY) : -1;
	if (file < 0) {
		fprintf(stderr, "usage: routes NUMBER\n");
		return 2;
	}
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++)
		sum += parse_config(file) + plan_route(sum);
	printf("%lu\n", sum);
	return 0;
}
