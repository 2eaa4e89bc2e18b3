// Threads compress blocks and keep their progress side by side for a display.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Progress {
	std::atomic<unsigned long> blocks{0};
};

static unsigned long compress(unsigned long block, int effort) {
	unsigned long state = block;
	for (int i = 0; i < effort; i++)
		state = (state ^ (state >> 13)) * 0x9e3779b97f4a7c15ul + i;
	return state;
}

static unsigned long run(Progress &progress, unsigned long blocks, int effort) {
	unsigned long sum = 0;
	for (unsigned long block = 0; block < blocks; block++) {
		sum += compress(block, effort) & 3;
		progress.blocks.fetch_add(1, std::memory_order_relaxed);
	}
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 3) {
		std::fprintf(stderr, "usage: compress BLOCKS EFFORT\n");
		return 2;
	}
	std::vector<Progress> progress(2);
	unsigned long blocks = std::strtoul(argv[1], nullptr, 10);
	int effort = std::atoi(argv[2]);
	std::thread other([&] { run(progress[1], blocks, effort); });
	unsigned long sum = run(progress[0], blocks, effort);
	other.join();
	std::printf("%lu %lu\n", sum, progress[0].blocks.load() + progress[1].blocks.load());
}
