// A thumbnail service: one thread takes connections in turn, a gateway in front of it sends bursts.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;
static int burst, listener;

static uint32_t shrink_picture(uint32_t seed, int rounds) {
    uint32_t pixels[4096], sum = 0;
    for (int i = 0; i < 4096; i++) pixels[i] = seed = seed * 1664525u + 1013904223u;
    for (int r = 0; r < rounds; r++)
        for (int i = 1; i < 4095; i++) {
            pixels[i] = (pixels[i - 1] + 2 * (pixels[i] >> 1) + pixels[i + 1]) / 3;
            sum += pixels[i];
        }
    return sum;
}

static void *serve(void *arg) {
    (void)arg;
    for (int served = 0; served < burst; served++) {
        int connection = accept(listener, NULL, NULL);
        uint32_t seed;
        if (connection < 0 || read(connection, &seed, sizeof seed) != sizeof seed) exit(3);
        uint32_t answer = shrink_picture(seed, 1300);
        if (write(connection, &answer, sizeof answer) != sizeof answer) exit(3);
        close(connection);
    }
    return NULL;
}

static void *request(void *arg) {
    uint32_t seed = (uint32_t)(intptr_t)arg, answer;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) exit(4);
    if (write(connection, &seed, sizeof seed) != sizeof seed) exit(4);
    if (read(connection, &answer, sizeof answer) != sizeof answer) exit(4);
    close(connection);
    return (void *)(intptr_t)answer;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int backlog = atoi(argv[1]);
    burst = atoi(argv[2]);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, backlog) != 0) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    pthread_t server, *clients = calloc(burst, sizeof *clients);
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < burst; i++) pthread_create(&clients[i], NULL, request, (void *)(intptr_t)(i + 1));
    uint32_t sum = 0;
    for (int i = 0; i < burst; i++) {
        void *answer;
        pthread_join(clients[i], &answer);
        sum ^= (uint32_t)(intptr_t)answer;
    }
    pthread_join(server, NULL);
    printf("%08x\n", sum);
    return 0;
}
