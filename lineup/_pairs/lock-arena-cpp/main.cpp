// Parses messages in threads; every message gets a buffer of its own size, some live a little longer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

struct Message {
    std::unique_ptr<char[]> body;
    size_t length;
};

static Message read_message(uint32_t &seed) {
    seed = seed * 1664525u + 1013904223u;
    size_t length = 1400 + (seed >> 20);
    Message message{std::unique_ptr<char[]>(new char[length]), length};
    std::memset(message.body.get(), int(seed >> 24), 64);
    return message;
}

static uint32_t digest_message(const Message &message) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < 48; i++) hash = (hash ^ (unsigned char)message.body[i]) * 16777619u;
    return hash + uint32_t(message.length);
}

static uint32_t consume(uint32_t seed, int messages) {
    std::vector<Message> window(32);
    uint32_t sum = 0;
    for (int i = 0; i < messages; i++) {
        Message message = read_message(seed);
        sum += digest_message(message);
        window[i % window.size()] = std::move(message);
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int threads = std::atoi(argv[1]), messages = std::atoi(argv[2]);
    std::vector<std::thread> pool;
    std::vector<uint32_t> sums(threads * 64);
    for (int i = 0; i < threads; i++) pool.emplace_back([&, i] { sums[i * 64] = consume(i + 1, messages); });
    uint32_t total = 0;
    for (int i = 0; i < threads; i++) pool[i].join(), total += sums[i * 64];
    std::printf("%u\n", total);
}
