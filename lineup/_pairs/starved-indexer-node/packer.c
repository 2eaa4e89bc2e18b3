// Packs old segments for as long as it is left running.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint32_t total;

static void pack_segment(unsigned char *segment, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 1; i < length; i++) {
        segment[i] ^= segment[i - 1] * 31;
        sum = sum * 16777619u ^ segment[i];
    }
    total += sum;
}

int main(void) {
    unsigned char *segment = calloc(1, 1 << 16);
    for (segment[0] = 1;;) pack_segment(segment, 1 << 16);
}
