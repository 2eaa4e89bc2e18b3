// A backup writer: packs blocks, adds a checksum to each and writes them one by one.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fill_block(unsigned char *block, size_t length, uint32_t seed) {
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        block[i] = seed >> 24;
    }
}

static size_t pack_block(const unsigned char *block, size_t length, unsigned char *packed) {
    size_t out = 0;
    for (size_t i = 0; i < length;) {
        size_t run = 1;
        while (i + run < length && run < 255 && block[i + run] / 64 == block[i] / 64) run++;
        packed[out++] = (unsigned char)run;
        memcpy(packed + out, block + i, run);
        out += run;
        i += run;
    }
    return out;
}

static uint32_t checksum(const unsigned char *data, size_t length, int width) {
    uint32_t sum = 0xffffffffu;
    for (size_t i = 0; i < length; i++) {
        sum ^= data[i];
        for (int bit = 0; bit < width; bit++) sum = sum & 1 ? (sum >> 1) ^ 0xedb88320u : sum >> 1;
    }
    return ~sum;
}

static void write_block(int fd, const unsigned char *packed, size_t length, uint32_t sum) {
    if (write(fd, &sum, sizeof sum) != sizeof sum) exit(3);
    for (size_t done = 0; done < length; done += 128) {
        size_t part = length - done < 128 ? length - done : 128;
        if (write(fd, packed + done, part) != (ssize_t)part) exit(3);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int fd = open("/dev/null", O_WRONLY);
    unsigned char block[4096], packed[8192];
    uint32_t total = 0;
    for (int i = 0; i < atoi(argv[1]); i++) {
        fill_block(block, sizeof block, i);
        size_t length = pack_block(block, sizeof block, packed);
        uint32_t sum = checksum(packed, length, atoi(argv[2]));
        write_block(fd, packed, length, sum);
        total += sum != 0;
    }
    printf("%u\n", total);
    return 0;
}
