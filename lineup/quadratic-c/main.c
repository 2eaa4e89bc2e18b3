// Event loop with a sorted table of timers. A timer is put into its place from
// the end, which is quick as long as timers arrive about in order.
//
//   usage: PROGRAM TIMERS DISORDER     (how far from its place a timer may arrive)
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
	size_t length;
	uint32_t due[1 << 17];
};

static uint32_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (uint64_t)seed * limit >> 32;
}

__attribute__((noinline)) static void insert_timer(struct table *table, uint32_t due)
{
	size_t i = table->length++;

	for (; i > 0 && table->due[i - 1] > due; i--)
		table->due[i] = table->due[i - 1];
	table->due[i] = due;
}

__attribute__((noinline)) static uint64_t run_callback(uint64_t state, uint32_t due)
{
	for (int i = 0; i < 2700; i++)
		state = (state ^ due) * 1099511628211u + (state >> 31);
	return state;
}

__attribute__((noinline)) static uint64_t run_due_timers(const struct table *table)
{
	uint64_t state = 14695981039346656037u;

	for (size_t i = 0; i < table->length; i++)
		state = run_callback(state, table->due[i]);
	return state;
}

int main(int argc, char **argv)
{
	static struct table table;

	if (argc != 3) {
		fprintf(stderr, "usage: %s TIMERS DISORDER\n", argv[0]);
		return 2;
	}
	uint32_t timers = (uint32_t)atol(argv[1]), disorder = (uint32_t)atol(argv[2]);
	if (timers > sizeof table.due / sizeof table.due[0]) {
		fprintf(stderr, "TIMERS: at most %zu\n", sizeof table.due / sizeof table.due[0]);
		return 2;
	}
	for (uint32_t i = 0; i < timers; i++)
		insert_timer(&table, i * 4 + random_below(disorder * 4));
	printf("%016lx\n", (unsigned long)run_due_timers(&table));
	return 0;
}
