// Renders a map in tiles: each tile is drawn, blurred in a scratch picture and folded into a digest.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Picture = std::vector<float>;
constexpr int side = 360;

static Picture draw_tile(int number) {
    Picture tile(side * side);
    for (int i = 0; i < side * side; i++) tile.data()[i] = float((i * 31 + number) & 1023);
    return tile;
}

static Picture blur_tile(const Picture &tile) {
    Picture out(tile.size());
    for (int pass = 0; pass < 4; pass++)
    for (int y = 1; y < side - 1; y++) {
        const float *row = tile.data() + y * side;
        for (int x = 1; x < side - 1; x++)
            out.data()[y * side + x] = out.data()[y * side + x] * 0.5f + (row[x - 1] + row[x + 1] + row[x - side] + row[x + side]) * 0.25f;
    }
    return out;
}

static double fold_tile(const Picture &tile) {
    double sum = 0;
    for (size_t i = 0; i < tile.size(); i += 2) sum += tile.data()[i];
    return sum / tile.size();
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    double total = 0;
    for (int i = 0; i < std::atoi(argv[1]); i++) total += fold_tile(blur_tile(draw_tile(i)));
    std::printf("%.3f\n", total);
}
