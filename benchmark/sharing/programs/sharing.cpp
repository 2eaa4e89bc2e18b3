// Threads parse records and count them: in words of one cache line, in one word, or apart.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Near {
	std::atomic<unsigned long> done{0};
	std::atomic<unsigned long> bytes{0};
};

struct alignas(256) Far : Near {};

[[gnu::noinline]] static unsigned parse(unsigned state, int steps) {
	for (int i = 0; i < steps; i++)
		state = state * 1664525u + 1013904223u;
	return state;
}

[[gnu::noinline]] static void note(Near &tally, unsigned state) {
	tally.done.fetch_add(1, std::memory_order_relaxed);
	tally.bytes.store(tally.bytes.load(std::memory_order_relaxed) + (state & 63), std::memory_order_relaxed);
}

static long cpu() {
	timespec at;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return at.tv_sec * 1000000000L + at.tv_nsec;
}

static std::atomic<long> operations, ns;

static void work(Near &tally, unsigned state, std::chrono::milliseconds lasts, long most) {
	long begin = cpu(), count = 0;
	auto end = std::chrono::steady_clock::now() + lasts;
	for (; count < most && std::chrono::steady_clock::now() < end; count += 4096)
		for (int i = 0; i < 4096; i++) {
			state = parse(state, 4);
			note(tally, state);
		}
	ns += cpu() - begin;
	operations += count;
}

int main(int argc, char **argv) {
	if (argc != 5) {
		std::fprintf(stderr, "usage: sharing false|true|padded|own THREADS MILLISECONDS OPERATIONS\n");
		return 2;
	}
	std::string kind = argv[1];
	unsigned count = std::atoi(argv[2]);
	std::chrono::milliseconds lasts(std::atol(argv[3]));
	auto *block = static_cast<char *>(std::aligned_alloc(4096, 4096));
	std::vector<Near *> tallies;
	for (unsigned i = 0; i < count; i++)
		if (kind == "false")
			tallies.push_back(new (block + i * sizeof(Near)) Near);
		else if (kind == "true")
			tallies.push_back(i ? tallies[0] : new (block) Near);
		else
			tallies.push_back(new (block + i * sizeof(Far)) Far);
	std::vector<std::thread> threads;
	for (unsigned i = 0; i < count; i++)
		threads.emplace_back(work, std::ref(*tallies[i]), i + 1, lasts, std::atol(argv[4]) / count);
	for (auto &thread : threads)
		thread.join();
	std::printf("%ld %ld\n", operations.load(), ns.load());
}
