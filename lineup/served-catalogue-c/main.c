/* Adds up the prices in a catalogue of one file an article. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long price_of(const char *folder, int article)
{
	char name[512], text[64];
	snprintf(name, sizeof(name), "%s/%d", folder, article);
	int file = open(name, O_RDONLY);
	if (file < 0) {
		perror(name);
		exit(1);
	}
	ssize_t length = read(file, text, sizeof(text) - 1);
	close(file);
	text[length > 0 ? length : 0] = 0;
	return atol(text);
}

int main(int argc, char **argv)
{
	long total = 0;
	int articles = atoi(argv[2]), rounds = argc > 3 ? atoi(argv[3]) : 1;
	for (int round = 0; round < rounds; round++)
		for (int article = 0; article < articles; article++)
			total += price_of(argv[1], article);
	printf("%ld\n", total);
}
