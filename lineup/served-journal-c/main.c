/* Writes entries to a journal under the lock of its file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static void append(int journal, int entry)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "entry %d\n", entry);
	flock(journal, LOCK_EX);
	if (pwrite(journal, text, length, 0) != length)
		perror("write");
	flock(journal, LOCK_UN);
}

static long compute(int entry)
{
	long sum = entry;
	for (int i = 0; i < 3000000; i++)
		sum = sum * 31 + i;
	return sum;
}

int main(int argc, char **argv)
{
	int journal = open(argv[1], O_RDWR | O_CREAT, 0644);
	long sum = 0;
	for (int entry = 0; entry < 20; entry++) {
		sum += compute(entry);
		append(journal, entry);
	}
	printf("%ld\n", sum);
	return argc > 2;
}
