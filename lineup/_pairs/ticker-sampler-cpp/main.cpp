// A simulation that keeps a picture of its own progress: a timer's signal notes which phase it is in.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static volatile sig_atomic_t phase;
static volatile unsigned seen[4];

static void note_phase(int) { seen[phase & 3] = seen[phase & 3] + 1; }

static void start_notes(long microseconds) {
    struct sigaction action = {};
    action.sa_handler = note_phase;
    action.sa_flags = SA_RESTART;
    sigaction(SIGRTMIN, &action, nullptr);
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) std::exit(1);
    struct itimerspec every = {{0, microseconds * 1000}, {0, microseconds * 1000}};
    timer_settime(timer, 0, &every, nullptr);
}

static void move_particles(std::vector<double> &position, const std::vector<double> &speed) {
    for (size_t i = 0; i < position.size(); i++) position[i] += speed[i] * 0.01;
}

static void turn_particles(const std::vector<double> &position, std::vector<double> &speed) {
    for (size_t i = 0; i < position.size(); i++)
        if (position[i] < 0 || position[i] > 100) speed[i] = -speed[i];
}

static double measure_energy(const std::vector<double> &speed) {
    double sum = 0;
    for (double v : speed) sum += v * v / (1 + sum * 1e-18);
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    start_notes(std::atol(argv[2]));
    std::vector<double> position(20000), speed(20000);
    for (size_t i = 0; i < position.size(); i++) position[i] = double(i % 100), speed[i] = double(i * 7919 % 200) - 100;
    double energy = 0;
    for (int step = 0; step < std::atoi(argv[1]); step++) {
        phase = 1;
        move_particles(position, speed);
        phase = 2;
        turn_particles(position, speed);
        phase = 3;
        energy = measure_energy(speed);
    }
    std::printf("%.0f\n", energy);
}
