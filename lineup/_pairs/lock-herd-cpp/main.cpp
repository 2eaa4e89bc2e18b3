// A job server: a dispatcher gives jobs to a pool of workers, one at a time as they come in.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

class Board {
public:
    explicit Board(bool single) : single_(single) {}
    void post_job(uint32_t job) {
        std::unique_lock<std::mutex> hold(mutex_);
        room_.wait(hold, [&] { return jobs_.size() < 2; });
        jobs_.push_back(job);
        if (single_) ready_.notify_one(); else ready_.notify_all();
    }
    bool take_job(uint32_t &job) {
        std::unique_lock<std::mutex> hold(mutex_);
        ready_.wait(hold, [&] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return false;
        job = jobs_.front();
        jobs_.pop_front();
        room_.notify_one();
        return true;
    }
    void close() {
        std::lock_guard<std::mutex> hold(mutex_);
        closed_ = true;
        ready_.notify_all();
    }
private:
    bool single_, closed_ = false;
    std::mutex mutex_;
    std::condition_variable ready_, room_;
    std::deque<uint32_t> jobs_;
};

static uint64_t price_job(uint32_t job) {
    uint64_t sum = 0, value = job + 1;
    for (int i = 0; i < 12000; i++) {
        value = value * 6364136223846793005ull + 1442695040888963407ull;
        sum += value >> 40;
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    Board board(std::strcmp(argv[3], "one") == 0);
    std::vector<std::thread> workers;
    std::vector<uint64_t> sums(std::atoi(argv[2]));
    for (auto &sum : sums)
        workers.emplace_back([&board, &sum] {
            uint32_t job;
            uint64_t own = 0;
            while (board.take_job(job)) own += price_job(job);
            sum = own;
        });
    for (int i = 0; i < std::atoi(argv[1]); i++) board.post_job(i);
    board.close();
    uint64_t total = 0;
    for (size_t i = 0; i < workers.size(); i++) workers[i].join(), total += sums[i];
    std::printf("%llu\n", (unsigned long long)total);
}
