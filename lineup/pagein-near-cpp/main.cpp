// Sums up the keys of an index that is mapped from a file, mixed in a number of rounds.
//
//   usage: PROGRAM INDEX PASSES CHANGED ROUNDS
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

struct Record {
	uint64_t key, first, last, weight;
};

class Index {
public:
	explicit Index(const char *path) : file(open(path, O_RDONLY))
	{
		struct stat status;
		if (file < 0 || fstat(file, &status) != 0) {
			perror(path);
			exit(2);
		}
		size = status.st_size;
		records = static_cast<const Record *>(mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0));
		madvise((void *)records, size, MADV_RANDOM);
	}

	__attribute__((noinline)) void reread() const
	{
		madvise((void *)records, size, MADV_DONTNEED);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	}

	__attribute__((noinline)) uint64_t mix_keys(int rounds) const
	{
		uint64_t sum = 0;
		for (size_t i = 0; i < size / sizeof(Record); i++) {
			uint64_t key = records[i].key ^ records[i].weight;
			for (int round = 0; round < rounds; round++)
				key = (key ^ (key >> 31)) * 0x9E3779B97F4A7C15;
			sum += key;
		}
		return sum;
	}

private:
	int file;
	size_t size = 0;
	const Record *records = nullptr;
};

} // namespace

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: %s INDEX PASSES CHANGED ROUNDS\n", argv[0]);
		return 2;
	}
	Index index(argv[1]);
	uint64_t sum = 0;
	for (int pass = 0; pass < atoi(argv[2]); pass++) {
		if (pass < atoi(argv[3]))
			index.reread();
		sum += index.mix_keys(atoi(argv[4]));
	}
	printf("%lu\n", sum);
}
