// Books orders on a stock of goods that one spin lock guards.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_spinlock_t stock_lock;
static long stock[64];
static atomic_long booked;
static long orders;

__attribute__((noinline)) static unsigned long read_order(unsigned long state) {
	for (int i = 0; i < 20; i++) {
		state ^= state >> 31;
		state *= 0x9E3779B97F4A7C15ul;
	}
	return state;
}

__attribute__((noinline)) static void reserve(unsigned long order) {
	pthread_spin_lock(&stock_lock);
	for (int i = 0; i < 40; i++) {
		order = order * 6364136223846793005ul + 1442695040888963407ul;
		stock[order >> 58] += order & 3;
	}
	pthread_spin_unlock(&stock_lock);
}

static void *book(void *unused) {
	unsigned long state = 1;
	while (atomic_fetch_add(&booked, 1) < orders)
		reserve(state = read_order(state + 1));
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t started[64];
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	orders = argc > 2 ? atol(argv[2]) : 6000000;
	pthread_spin_init(&stock_lock, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, book, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	printf("%ld\n", stock[7]);
}
