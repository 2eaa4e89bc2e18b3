// Serves prices from a table that a lock guards, taken for reading: one table for all threads, or
// one for each.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <shared_mutex>
#include <thread>
#include <vector>

struct Table {
	mutable std::shared_mutex lock;
	int rows[256] = {};

	__attribute__((noinline)) int price(int item) const {
		std::shared_lock guard(lock);
		return rows[item & 255];
	}
};

static long serve(const Table &table, int requests) {
	long sum = 0;
	for (int i = 0; i < requests; i++)
		sum += table.price(i);
	return sum;
}

int main(int argc, char **argv) {
	bool common = argc > 1 && atoi(argv[1]) == 1;
	int requests = argc > 2 ? atoi(argv[2]) : 20000000;
	std::vector<std::unique_ptr<Table>> tables;
	std::vector<std::thread> threads;
	for (int i = 0; i < 2; i++)
		tables.push_back(std::make_unique<Table>());
	for (int i = 0; i < 2; i++)
		threads.emplace_back([&, i] { printf("%ld\n", serve(*tables[common ? 0 : i], requests)); });
	for (auto &thread : threads)
		thread.join();
}
