// Order matcher with two locks: one for the book, one for the totals. The
// second argument says how much of the work on totals happens under its lock.
//
//   usage: PROGRAM ORDERS UNDER_LOCK_PERCENT
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

static pthread_mutex_t book_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t book[256], totals[256];
static long orders_per_thread;
static int under_lock_percent;

__attribute__((noinline)) static uint64_t settle(uint64_t order, long rounds)
{
	for (long i = 0; i < rounds; i++)
		order = order * 6364136223846793005u + (order >> 29);
	return order;
}

__attribute__((noinline)) static void match_order(uint64_t order)
{
	uint64_t price = settle(order, 30000);

	pthread_mutex_lock(&book_lock);
	book[price & 255] += price >> 32;
	pthread_mutex_unlock(&book_lock);
}

__attribute__((noinline)) static void add_to_totals(uint64_t order)
{
	const long rounds = 90000;
	long inside = rounds * under_lock_percent / 100;
	uint64_t amount = settle(order, rounds - inside);

	pthread_mutex_lock(&totals_lock);
	amount = settle(amount, inside);
	totals[amount & 255] += amount >> 32;
	pthread_mutex_unlock(&totals_lock);
}

static void *trade(void *argument)
{
	uint64_t order = (uintptr_t)argument;

	for (long i = 0; i < orders_per_thread; i++) {
		order = order * 2862933555777941757u + 3037000493u;
		match_order(order);
		add_to_totals(order);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s ORDERS UNDER_LOCK_PERCENT\n", argv[0]);
		return 2;
	}
	orders_per_thread = atol(argv[1]) / THREADS;
	under_lock_percent = atoi(argv[2]);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, trade, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 256; i++)
		sum += book[i] + totals[i];
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
