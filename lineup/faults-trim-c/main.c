// Decodes frames into a fresh buffer each; what the allocator does with freed
// memory is set by its own tunables.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 900 << 10 };

static unsigned long decode_frame(unsigned char *frame, int number) {
	unsigned long sum = 0;
	for (int i = 0; i < FRAME; i += 64) {
		frame[i] = (unsigned char)(number + i);
		for (int bit = 0; bit < 60; bit++)
			sum = sum * 33 + (frame[i] >> (bit & 7));
	}
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: frames NUMBER\n");
		return 2;
	}
	unsigned long sum = 0;
	for (int i = 0; i < atoi(argv[1]); i++) {
		unsigned char *frame = malloc(FRAME);
		sum += decode_frame(frame, i);
		free(frame);
	}
	printf("%lu\n", sum);
	return 0;
}
