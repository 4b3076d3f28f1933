// How the time of something grows with its size: for promises of linear time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>

/// time(2n) / time(n) in processor time: the least of several rounds each, and the least of three such ratios, since a
/// busy machine can only make one larger by chance and square time makes all of them 4. What takes less than two
/// milliseconds is repeated until it does not.
template <class F>
double growth(F f, std::size_t n) {
    std::size_t repeats = 1;
    const auto seconds = [&](std::size_t size) {
        const std::clock_t begin = std::clock();
        for (std::size_t i = 0; i < repeats; ++i) f(size);
        return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    while (repeats < 100000 && seconds(n) < 0.002) repeats *= 2;
    double least = 1e9;
    for (int attempt = 0; attempt < 3 && least > 2.2; ++attempt) {
        double once = 1e9, twice = 1e9;
        for (int round = 0; round < 5; ++round) {
            once = (std::min)(once, seconds(n));
            twice = (std::min)(twice, seconds(2 * n));
        }
        least = (std::min)(least, twice / (std::max)(once, 1e-6));
    }
    return least;
}
