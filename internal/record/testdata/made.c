/* Spins for so many seconds in code that it makes itself: two functions, three to one by CPU time, both called by a
 * third. Names them in /tmp/perf-PID.map as run times do. Prints the CPU seconds of each. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void spin(long rounds);
typedef void dispatch(long rounds, spin *function);

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
static const unsigned char call[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};

static unsigned char *code;

static void *make(FILE *map, const unsigned char *bytes, size_t length, const char *name)
{
	unsigned char *at = code;
	memcpy(at, bytes, length);
	code += 4096;
	fprintf(map, "%lx %zx %s\n", (unsigned long)at, length, name);
	return at;
}

static double read_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double much = 0, little = 0;
	char name[64];
	if (argc < 2)
		return 2;
	code = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(name, "w");
	if (code == MAP_FAILED || !map)
		return 1;
	dispatch *run = make(map, call, sizeof(call), "dispatch");
	spin *spin_much = make(map, loop, sizeof(loop), "spin_much");
	spin *spin_little = make(map, loop, sizeof(loop), "spin_little");
	fclose(map);
	for (double end = read_clock(CLOCK_MONOTONIC) + atof(argv[1]); read_clock(CLOCK_MONOTONIC) < end;) {
		double start = read_clock(CLOCK_THREAD_CPUTIME_ID);
		run(3000000, spin_much);
		double next = read_clock(CLOCK_THREAD_CPUTIME_ID);
		much += next - start;
		run(1000000, spin_little);
		little += read_clock(CLOCK_THREAD_CPUTIME_ID) - next;
	}
	unlink(name);
	printf("spin_much %.6f\nspin_little %.6f\n", much, little);
	return 0;
}
