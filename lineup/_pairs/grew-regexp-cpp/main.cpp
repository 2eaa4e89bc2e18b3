// Sorts access-log lines into classes by patterns.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <vector>

static const char *const patterns[] = {"GET /api/v[0-9]+/orders", "POST /(login|logout)", " (4|5)[0-9][0-9] "};

static std::string make_line(uint32_t number) {
    static const char *const paths[] = {"GET /api/v2/orders", "GET /static/app.js", "POST /login", "GET /health"};
    return "10.0.0." + std::to_string(number % 251) + " " + paths[number * 7919 % 4] + " " + (number % 13 ? "200" : "503") + " " + std::to_string(number);
}

using Rules = std::vector<std::regex>;

static Rules load_rules() { return Rules(std::begin(patterns), std::end(patterns)); }

static int classify(const std::string &line, const Rules &rules) {
    int bits = 0;
    for (int i = 0; i < 3; i++)
        if (std::regex_search(line, rules[i])) bits |= 1 << i;
    return bits;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int lines = std::atoi(argv[1]), block = std::atoi(argv[2]);
    std::map<int, int> counts;
    Rules rules;
    for (int i = 0; i < lines; i++) {
        if (i % block == 0) rules = load_rules();
        counts[classify(make_line(i), rules)]++;
    }
    for (auto &[bits, count] : counts) std::printf("%d %d\n", bits, count);
}
