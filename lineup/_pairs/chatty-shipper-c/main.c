// A log shipper: takes records from a spool, filters and tags them and sends them to a collector by a Unix socket.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char *batch;
static size_t used, limit;
static int out;

static void ship(void) {
    for (size_t done = 0; done < used;) {
        ssize_t n = write(out, batch + done, used - done);
        if (n <= 0) exit(3);
        done += n;
    }
    used = 0;
}

static void add_record(const char *record, size_t length) {
    memcpy(batch + used, record, length);
    used += length;
    if (used >= limit) ship();
}

static unsigned tag_record(char *record, unsigned number) {
    unsigned hash = 2166136261u;
    int length = snprintf(record, 200, "{\"seq\":%u,\"level\":\"%s\",\"host\":\"web-%u\",\"took\":%u}\n", number,
                          number % 9 ? "info" : "warning", number % 17, number * 7919u % 997);
    for (int i = 0; i < length; i++) hash = (hash ^ (unsigned char)record[i]) * 16777619u;
    return hash % 10 ? (unsigned)length : 0;
}

static void *collect(void *arg) {
    char buffer[65536];
    uint64_t lines = 0;
    ssize_t n;
    while ((n = read((int)(intptr_t)arg, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < n; i++) lines += buffer[i] == '\n';
    return (void *)(uintptr_t)lines;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int records = atoi(argv[1]), pair[2];
    limit = atoi(argv[2]);
    batch = malloc(limit + 256);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
    out = pair[0];
    pthread_t collector;
    pthread_create(&collector, NULL, collect, (void *)(intptr_t)pair[1]);
    char record[256];
    for (int i = 0; i < records; i++) {
        unsigned length = tag_record(record, i);
        if (length > 0) add_record(record, length);
    }
    ship();
    shutdown(out, SHUT_WR);
    void *lines;
    pthread_join(collector, &lines);
    printf("%llu\n", (unsigned long long)(uintptr_t)lines);
    return 0;
}
