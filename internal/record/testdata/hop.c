/* Moves to the other one of the first two CPUs it may use, again and again: so many times. Prints how often. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	cpu_set_t allowed, one;
	int cpus[2], found = 0, hops = 0;
	if (argc < 2 || sched_getaffinity(0, sizeof(allowed), &allowed))
		return 2;
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[found++] = cpu;
	if (found < 2)
		return 3;
	for (int i = 0; i < atoi(argv[1]); i++) {
		int before = sched_getcpu();
		CPU_ZERO(&one);
		CPU_SET(before == cpus[0] ? cpus[1] : cpus[0], &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			return 4;
		hops += sched_getcpu() != before;
	}
	printf("hops %d\n", hops);
	return 0;
}
