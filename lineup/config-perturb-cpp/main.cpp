// Packs pictures: each strip is copied to a buffer of its own and summed.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct Strip {
	std::unique_ptr<unsigned char[]> bytes;
	std::size_t used;
};

static Strip take_strip(unsigned number, std::size_t room) {
	Strip strip{std::unique_ptr<unsigned char[]>(static_cast<unsigned char *>(operator new[](room))), 100};
	for (std::size_t i = 0; i < strip.used; i++)
		strip.bytes[i] = static_cast<unsigned char>(number * i);
	return strip;
}

static unsigned long weigh(const std::vector<Strip> &strips) {
	unsigned long sum = 0;
	for (const Strip &strip : strips)
		for (std::size_t i = 0; i < strip.used; i++)
			sum = sum * 31 + strip.bytes[i];
	return sum;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		std::fprintf(stderr, "usage: pack PICTURES\n");
		return 2;
	}
	unsigned long sum = 0;
	for (int picture = 0; picture < std::atoi(argv[1]); picture++) {
		std::vector<Strip> strips;
		for (unsigned number = 0; number < 12; number++)
			strips.push_back(take_strip(number + picture, 20000));
		sum += weigh(strips);
	}
	std::printf("%lu\n", sum);
}
