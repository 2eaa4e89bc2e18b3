// A document indexer: words go into a big table, every so often a filter program is run on a document.
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static uint32_t *table;
static size_t slots;

static void build_table(size_t megabytes) {
    slots = megabytes << 18;
    table = malloc(slots * sizeof *table);
    for (size_t i = 0; i < slots; i++) table[i] = (uint32_t)(i * 2654435761u);
}

static void index_document(uint32_t seed, int words) {
    size_t base = (size_t)seed * (slots / 16);
    for (int i = 0; i < words; i++) {
        seed = seed * 1664525u + 1013904223u;
        table[(base + (seed >> 3) % (slots / 16)) % slots] += seed & 7;
    }
}

static pid_t start_filter(int direct, char *name) {
    char *arguments[] = {"/bin/true", name, NULL};
    pid_t child;
    if (direct) {
        if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != 0) exit(3);
        return child;
    }
    child = fork();
    if (child == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    return child;
}

static void filter_document(int direct, int number) {
    char name[32];
    int status;
    snprintf(name, sizeof name, "doc-%d", number);
    if (waitpid(start_filter(direct, name), &status, 0) < 0 || status != 0) exit(4);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int documents = atoi(argv[1]), direct = strcmp(argv[3], "spawn") == 0;
    build_table(atoi(argv[2]));
    for (int i = 0; i < documents; i++) {
        filter_document(direct, i);
        index_document(i + 1, 250000);
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < slots; i += 64) sum += table[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
