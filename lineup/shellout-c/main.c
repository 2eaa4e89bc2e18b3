// Invoice printer: each invoice carries today's date, from the C library or
// from a command that is asked for every invoice.
//
//   usage: PROGRAM INVOICES library|command
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static void today(char *text, size_t size, int by_command)
{
	if (by_command) {
		FILE *date = popen("date -u +%F", "r");
		if (date == NULL || fgets(text, (int)size, date) == NULL) {
			perror("run date");
			exit(1);
		}
		text[strcspn(text, "\n")] = 0;
		pclose(date);
		return;
	}
	time_t now = time(NULL);
	strftime(text, size, "%F", gmtime(&now));
}

__attribute__((noinline)) static uint64_t print_invoice(long number, const char *date)
{
	char line[96];
	uint64_t digest = 5381;

	for (int item = 0; item < 9000; item++) {
		int n = snprintf(line, sizeof line, "%s %ld-%d %10.2f", date, number, item, item * 1.19);
		for (int i = 0; i < n; i++)
			digest = digest * 33 + (unsigned char)line[i];
	}
	return digest;
}

int main(int argc, char **argv)
{
	char date[32];
	uint64_t digest = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s INVOICES library|command\n", argv[0]);
		return 2;
	}
	for (long number = 0; number < atol(argv[1]); number++) {
		today(date, sizeof date, strcmp(argv[2], "command") == 0);
		digest ^= print_invoice(number, date);
	}
	printf("%d\n", digest != 0);
	return 0;
}
