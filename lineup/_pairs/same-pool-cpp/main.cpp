// A word counter with a pool of threads, a queue and a merge at the end.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static std::mutex mutex;
static std::condition_variable ready;
static std::deque<std::string> pages;
static bool closed;

static std::string write_page(uint32_t seed) {
    std::string page;
    for (int i = 0; i < 900; i++) {
        seed = seed * 1664525u + 1013904223u;
        page += "w" + std::to_string((seed >> 16) % 3000) + " ";
    }
    return page;
}

static void count_words(std::unordered_map<std::string, int> &counts) {
    for (;;) {
        std::unique_lock<std::mutex> hold(mutex);
        ready.wait(hold, [] { return closed || !pages.empty(); });
        if (pages.empty()) return;
        std::string page = std::move(pages.front());
        pages.pop_front();
        hold.unlock();
        for (size_t start = 0, end; (end = page.find(' ', start)) != std::string::npos; start = end + 1)
            counts[page.substr(start, end - start)]++;
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    std::vector<std::unordered_map<std::string, int>> counts(3);
    std::vector<std::thread> pool;
    for (auto &own : counts) pool.emplace_back([&own] { count_words(own); });
    for (int i = 0; i < std::atoi(argv[1]); i++) {
        std::string page = write_page(i);
        std::lock_guard<std::mutex> hold(mutex);
        pages.push_back(std::move(page));
        ready.notify_one();
    }
    { std::lock_guard<std::mutex> hold(mutex); closed = true; }
    ready.notify_all();
    for (auto &thread : pool) thread.join();
    long total = 0;
    for (auto &own : counts) for (auto &[word, count] : own) total += count * long(word.size());
    std::printf("%ld\n", total);
}
