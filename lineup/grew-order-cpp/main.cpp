// Keeps the open orders of a market in price order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

struct Order {
	int price, amount;
};

template <typename Compare> class Book {
public:
	explicit Book(Compare compare) : compare(compare) {}

	void place(Order order, std::size_t every) {
		orders.push_back(order);
		if (orders.size() % every == 0)
			tidy();
	}

	long depth() const {
		long sum = 0;
		for (const Order &order : orders)
			sum += order.amount;
		return sum;
	}

	void clear() { orders.clear(); }

private:
	void tidy() {
		std::sort(orders.begin(), orders.end(),
			[this](const Order &a, const Order &b) { return compare(a.price, b.price); });
	}

	Compare compare;
	std::vector<Order> orders;
};

static int next_price(unsigned &state) {
	for (int i = 0; i < 60; i++)
		state = state * 1664525u + 1013904223u;
	return static_cast<int>(state >> 12);
}

int main(int argc, char **argv) {
	if (argc != 3) {
		std::fprintf(stderr, "usage: book DAYS EVERY\n");
		return 2;
	}
	Book<std::greater<int>> book{std::greater<int>()};
	unsigned state = 7;
	long total = 0;
	for (int day = 0; day < std::atoi(argv[1]); day++) {
		for (int i = 0; i < 256; i++)
			book.place({next_price(state), i}, std::atoi(argv[2]));
		total += book.depth();
		book.clear();
	}
	std::printf("%ld\n", total);
}
