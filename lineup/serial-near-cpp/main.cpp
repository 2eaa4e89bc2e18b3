// Reads an order book in one thread, then prices it in two.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static std::vector<double> parse(int orders, int fields)
{
	std::vector<double> book(orders);
	for (int order = 0; order < orders; order++)
		for (int field = 0; field < fields; field++)
			book[order] = book[order] * 0.5 + std::sin(order + field);
	return book;
}

static void price(std::vector<double> &book, int from, int to)
{
	for (int round = 0; round < 12; round++)
		for (int order = from; order < to; order++)
			book[order] = std::sqrt(std::fabs(book[order]) + std::cos(order));
}

int main(int, char **argv)
{
	const int orders = 600000;
	std::vector<double> book = parse(orders, std::atoi(argv[1]));
	std::thread half(price, std::ref(book), 0, orders / 2);
	price(book, orders / 2, orders);
	half.join();
	std::printf("%f\n", book[1]);
}
