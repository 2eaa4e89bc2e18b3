// Takes measurements into a journal file and makes them durable in groups.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

class Journal {
public:
	Journal(const char *path, int group)
	    : file_(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)), group_(group) {}
	bool ok() const { return file_ >= 0; }
	void append(const std::string &line) {
		if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
			abort();
		if (++pending_ >= group_)
			settle();
	}
	void settle() {
		fdatasync(file_);
		pending_ = 0;
	}

private:
	int file_;
	int group_;
	int pending_ = 0;
};

static std::string describe(int number) {
	double value = number;
	for (int i = 0; i < 120000; i++)
		value = value * 1.0000001 + 1.0 / (i + 1);
	char line[96];
	snprintf(line, sizeof line, "%d;%.9f\n", number, value);
	return line;
}

int main(int argc, char **argv) {
	if (argc != 4)
		return 2;
	Journal journal(argv[1], atoi(argv[3]));
	if (!journal.ok())
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++)
		journal.append(describe(i));
	journal.settle();
	return 0;
}
