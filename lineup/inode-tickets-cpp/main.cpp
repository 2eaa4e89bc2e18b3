// Workers hand out tickets: each is a file while it is out, as other programs want to see them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static uint64_t stamp(int number) {
	uint64_t sum = static_cast<uint64_t>(number) + 1;
	for (int i = 0; i < 2500; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	return sum;
}

static void issue(const std::string &path) {
	int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
	if (file < 0)
		abort();
	close(file);
}

static void redeem(const std::string &path) {
	if (unlink(path.c_str()) != 0)
		abort();
}

static void work(const std::string &folder, int worker, int tickets) {
	uint64_t sum = 0;
	for (int number = 0; number < tickets; number++) {
		std::string path = folder + "/" + std::to_string(worker) + "-" + std::to_string(number);
		issue(path);
		sum += stamp(number);
		redeem(path);
	}
	printf("%llu\n", static_cast<unsigned long long>(sum));
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	std::vector<std::thread> workers;
	for (int worker = 0; worker < 3; worker++) {
		std::string folder = std::string(argv[1]) + "/" + std::to_string(worker % atoi(argv[3]));
		mkdir(folder.c_str(), 0755);
		workers.emplace_back(work, folder, worker, atoi(argv[2]));
	}
	for (auto &worker : workers)
		worker.join();
	return 0;
}
