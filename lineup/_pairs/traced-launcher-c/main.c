// Looks up keys in a sorted file of fixed-size records by binary search, as a small on-disk index does.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct record { uint64_t key, value; };

static int load_record(int fd, size_t index, struct record *record) {
    return pread(fd, record, sizeof *record, index * sizeof *record) == sizeof *record;
}

static uint64_t find_key(int fd, size_t count, uint64_t key) {
    size_t low = 0, high = count;
    struct record record;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (!load_record(fd, middle, &record)) exit(3);
        if (record.key == key) return record.value;
        if (record.key < key) low = middle + 1; else high = middle;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t count = 1 << 16;
    FILE *file = fopen(argv[1], "w+");
    for (size_t i = 0; i < count; i++) {
        struct record record = {i * 3, i ^ 0x55};
        fwrite(&record, sizeof record, 1, file);
    }
    fflush(file);
    uint64_t sum = 0, key = 1;
    for (int i = 0; i < atoi(argv[2]); i++) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        sum += find_key(fileno(file), count, (key >> 33) % (count * 3));
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
