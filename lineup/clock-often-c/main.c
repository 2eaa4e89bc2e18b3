// Batch importer: parses amounts out of text, sums them per account and checks
// a deadline every EVERY records. Reading the time through the vDSO is cheap,
// but not when it is done several times for each record.
//
//   usage: PROGRAM RECORDS EVERY READS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static int deadline_passed(int reads)
{
	struct timespec t;
	long latest = 0;

	for (int i = 0; i < reads; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		if (t.tv_sec > latest)
			latest = t.tv_sec;
	}
	return latest == 0;
}

__attribute__((noinline)) static int64_t parse_amount(const char *text)
{
	int64_t amount = 0;

	for (; *text; text++)
		if (*text >= '0' && *text <= '9')
			amount = amount * 10 + (*text - '0');
	return amount;
}

__attribute__((noinline)) static void write_amount(char *text, uint32_t amount)
{
	char digits[12];
	int n = 0;

	do {
		digits[n++] = '0' + amount % 10;
		amount /= 10;
	} while (amount);
	for (int i = 0; i < n; i++)
		text[i] = digits[n - 1 - i];
	text[n] = 0;
}

int main(int argc, char **argv)
{
	static int64_t balance[1024];
	char text[16];
	uint32_t seed = 1;
	int64_t sum = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: %s RECORDS EVERY READS\n", argv[0]);
		return 2;
	}
	long records = atol(argv[1]), every = atol(argv[2]);
	int reads = atoi(argv[3]);
	for (long i = 0; i < records; i++) {
		seed = seed * 1664525 + 1013904223;
		write_amount(text, seed);
		balance[seed >> 22] += parse_amount(text);
		if (i % every == 0 && deadline_passed(reads))
			return 1;
	}
	for (int i = 0; i < 1024; i++)
		sum ^= balance[i];
	printf("%ld\n", (long)sum);
	return 0;
}
