// Sorts parcels: a belt hands them over one by one to sorters that wait for the next.
// usage: parcels PARCELS one|all
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Belt {
    std::mutex lock;
    std::condition_variable arrived;
    std::deque<uint64_t> parcels;
    bool closed = false;
    bool tell_everyone;

    explicit Belt(bool everyone) : tell_everyone(everyone) {}

    void put(uint64_t parcel) {
        {
            std::lock_guard<std::mutex> held(lock);
            parcels.push_back(parcel);
        }
        if (tell_everyone)
            arrived.notify_all();
        else
            arrived.notify_one();
    }

    bool take(uint64_t &parcel) {
        std::unique_lock<std::mutex> held(lock);
        while (parcels.empty() && !closed)
            arrived.wait(held);
        if (parcels.empty())
            return false;
        parcel = parcels.front();
        parcels.pop_front();
        return true;
    }

    void close() {
        std::lock_guard<std::mutex> held(lock);
        closed = true;
        arrived.notify_all();
    }
};

static uint64_t scramble(uint64_t code, int steps) {
    for (int i = 0; i < steps; i++) {
        code ^= code << 13;
        code ^= code >> 7;
        code ^= code << 17;
    }
    return code;
}

static void sort_parcels(Belt &belt, uint64_t &total) {
    uint64_t parcel;
    while (belt.take(parcel))
        total += scramble(parcel, 6000) & 7;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: parcels PARCELS one|all\n");
        return 2;
    }
    int count = atoi(argv[1]);
    Belt belt(strcmp(argv[2], "all") == 0);
    std::vector<std::thread> sorters;
    std::vector<uint64_t> totals(12);
    for (auto &total : totals)
        sorters.emplace_back([&belt, &total] { sort_parcels(belt, total); });
    uint64_t label = 88172645463325252ULL;
    for (int i = 0; i < count; i++) {
        label = scramble(label, 9000); // reading the label of the next parcel
        belt.put(label);
    }
    belt.close();
    uint64_t sum = 0;
    for (size_t i = 0; i < sorters.size(); i++) {
        sorters[i].join();
        sum += totals[i];
    }
    printf("%llu\n", (unsigned long long)sum);
}
