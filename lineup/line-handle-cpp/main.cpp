// Looks prices up in a table that two threads share.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using Table = std::vector<unsigned>;

static std::shared_ptr<const Table> table = std::make_shared<const Table>(4096, 7);

static unsigned long price(const Table &prices, unsigned long item) {
	unsigned long state = item;
	for (int i = 0; i < 25; i++)
		state = (state ^ (state >> 13)) * 0x9e3779b97f4a7c15ul;
	return state % 100 * prices[state % prices.size()];
}

static unsigned long quote(unsigned long item) {
	std::shared_ptr<const Table> own = table;
	return price(*own, item);
}

static unsigned long serve(unsigned long items, unsigned long every) {
	unsigned long sum = 0;
	for (unsigned long item = 0; item < items; item += every) {
		sum += quote(item);
		for (unsigned long more = 1; more < every; more++)
			sum += price(*table, item + more);
	}
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		std::fprintf(stderr, "usage: quote ITEMS EVERY\n");
		return 2;
	}
	unsigned long items = std::strtoul(argv[1], nullptr, 10), every = std::strtoul(argv[2], nullptr, 10);
	unsigned long other = 0;
	std::thread second([&] { other = serve(items, every); });
	unsigned long sum = serve(items, every);
	second.join();
	std::printf("%lu\n", sum + other);
}
