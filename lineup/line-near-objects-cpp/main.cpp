// Threads book orders on accounts: each thread has accounts of its own, which one after the other opened.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

struct Account {
	std::atomic<unsigned long> orders{0}, volume{0};

	void book(unsigned long amount) {
		orders.fetch_add(1, std::memory_order_relaxed);
		volume.fetch_add(amount, std::memory_order_relaxed);
	}
};

static unsigned long price(unsigned long order, int steps) {
	unsigned long state = order;
	for (int i = 0; i < steps; i++)
		state = (state ^ (state >> 13)) * 0x9e3779b97f4a7c15ul + i;
	return state;
}

static void run(std::vector<Account *> accounts, unsigned long orders, unsigned long seed, int steps) {
	unsigned long state = seed;
	for (unsigned long order = 0; order < orders; order++) {
		state = price(state + order, steps);
		accounts[(state >> 20) % accounts.size()]->book(state & 7);
	}
}

int main(int argc, char **argv) {
	if (argc != 4) {
		std::fprintf(stderr, "usage: accounts ORDERS BLOCK STEPS\n");
		return 2;
	}
	unsigned long orders = std::strtoul(argv[1], nullptr, 10), block = std::strtoul(argv[2], nullptr, 10);
	int steps = std::atoi(argv[3]);
	std::vector<std::unique_ptr<Account>> all;
	std::vector<Account *> mine, others;
	for (unsigned long i = 0; i < 1024; i++) {
		all.push_back(std::make_unique<Account>());
		(i / block % 2 ? others : mine).push_back(all.back().get());
	}
	std::thread other([&] { run(others, orders, 1, steps); });
	run(mine, orders, 2, steps);
	other.join();
	unsigned long total = 0;
	for (auto &account : all)
		total += account->orders;
	std::printf("%lu\n", total);
}
