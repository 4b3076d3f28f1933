// What the benchmarks share: options, made-up vectors, clocks, and the JSON they end in.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/math/simd.hpp"

namespace bench {

/// `--name value` pairs and lone `--name`s. What is not known ends the program.
class options {
 public:
    options(int argc, char** argv, std::map<std::string, std::string> known) : values_(std::move(known)) {
        for (int i = 1; i < argc; ++i) {
            const std::string name = argv[i];
            const auto found = name.starts_with("--") ? values_.find(name.substr(2)) : values_.end();
            if (found == values_.end()) {
                std::cerr << "unknown option " << name << "; known:";
                for (const auto& [option, preset] : values_) std::cerr << " --" << option << " (" << preset << ')';
                std::cerr << '\n';
                std::exit(2);
            }
            const bool has_value = i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--");
            found->second = has_value ? argv[++i] : "1";
        }
    }
    std::size_t number(const std::string& name) const { return std::stoull(values_.at(name)); }
    double real(const std::string& name) const { return std::stod(values_.at(name)); }
    const std::string& text(const std::string& name) const { return values_.at(name); }
    bool flag(const std::string& name) const { return !values_.at(name).empty() && values_.at(name) != "0"; }

 private:
    std::map<std::string, std::string> values_;
};

/// The same numbers on every platform.
class random_source {
 public:
    explicit random_source(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() noexcept {  // splitmix64
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
    double normal() noexcept {
        return std::sqrt(-2.0 * std::log(1.0 - uniform())) * std::cos(6.283185307179586 * uniform());
    }

 private:
    std::uint64_t state_;
};

struct vectors {
    std::size_t n = 0, d = 0;
    std::vector<float> rows{};
    const float* row(std::size_t i) const { return rows.data() + i * d; }
};

/// Unit vectors as embeddings are: 2,000 clusters under 64 topics around a common mean, on axes whose variance falls by
/// a power law. Two random rows have a cosine of about .17, a row and its 10th neighbour of a hundred thousand about
/// .74.
struct made_up {
    vectors base, queries;
    std::vector<std::uint32_t> topic_of;  // of each base row
    std::vector<std::uint32_t> topic_of_query;

    made_up(std::size_t n, std::size_t m, std::size_t d, std::uint64_t seed = 1) {
        constexpr std::size_t topics = 64, clusters = 2000;
        random_source random(seed);
        std::vector<double> axis(d);
        double squares = 0;
        for (std::size_t j = 0; j < d; ++j) squares += axis[j] = std::pow(static_cast<double>(j + 1), -0.8);
        for (double& x : axis) x = std::sqrt(x / squares);
        const auto draw = [&](std::size_t count) {
            std::vector<float> out(count * d);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = 0; j < d; ++j) out[i * d + j] = static_cast<float>(random.normal() * axis[j]);
            return out;
        };
        const auto mean = draw(1), topic = draw(topics), cluster = draw(clusters);
        std::vector<std::uint32_t> topic_of_cluster(clusters);
        for (auto& t : topic_of_cluster) t = static_cast<std::uint32_t>(random.next() % topics);
        const auto fill = [&](vectors& to, std::size_t count, std::vector<std::uint32_t>& of) {
            to = {count, d, std::vector<float>(count * d)};
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t c = random.next() % clusters, t = topic_of_cluster[c];
                of.push_back(static_cast<std::uint32_t>(t));
                double length = 0;
                float* row = to.rows.data() + i * d;
                for (std::size_t j = 0; j < d; ++j) {
                    row[j] = static_cast<float>(std::sqrt(.17) * static_cast<double>(mean[j]) +
                                                std::sqrt(.20) * static_cast<double>(topic[t * d + j]) +
                                                std::sqrt(.33) * static_cast<double>(cluster[c * d + j]) +
                                                std::sqrt(.30) * random.normal() * axis[j]);
                    length += static_cast<double>(row[j]) * static_cast<double>(row[j]);
                }
                for (std::size_t j = 0; j < d; ++j)
                    row[j] = static_cast<float>(static_cast<double>(row[j]) / std::sqrt(length));
            }
        };
        fill(base, n, topic_of);
        fill(queries, m, topic_of_query);
    }
};

/// Rows of half floats as the judged sets hold them, widened.
inline vectors read_halves(const std::string& path, std::size_t d) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(2);
    }
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    vectors out{bytes.size() / 2 / d, d, {}};
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
        const unsigned h =
            static_cast<unsigned char>(bytes[i]) | static_cast<unsigned>(static_cast<unsigned char>(bytes[i + 1])) << 8;
        const int exponent = static_cast<int>(h >> 10 & 31);
        const double fraction = static_cast<double>(h & 1023) / 1024;
        const double value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
        out.rows.push_back(static_cast<float>((h & 0x8000) != 0 ? -value : value));
    }
    return out;
}

struct base_and_queries {
    vectors base, queries;
};

/// The vectors of the folder `data` with this width, or made-up ones where it is empty; at most `n` and `m` of them, but
/// for the base of a folder, which is read whole.
inline base_and_queries vectors_of(const std::string& data, std::size_t n, std::size_t m, std::size_t d) {
    if (data.empty()) {
        made_up made(n, m, d);
        return {std::move(made.base), std::move(made.queries)};
    }
    const std::string width = "." + std::to_string(d) + ".f16";
    base_and_queries out{read_halves(data + "/base" + width, d), read_halves(data + "/queries" + width, d)};
    out.queries.n = (std::min)(out.queries.n, m);
    return out;
}

/// Processor seconds of this process: on a shared machine they say more than the clock on the wall.
inline double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
inline double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F>
double milliseconds(F f) {
    const double begin = processor_seconds();
    f();
    return (processor_seconds() - begin) * 1e3;
}

inline double median(std::vector<double> all) {
    std::ranges::sort(all);
    return all.empty() ? 0.0 : all[all.size() / 2];
}

inline double load() {
    double one = 0;
    return getloadavg(&one, 1) == 1 ? one : -1;
}

inline std::string processor() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

/// Prints the array that every benchmark ends in, or a line per case.
inline void report(const options& o, const nlohmann::json& cases) {
    if (o.flag("json")) {
        std::cout << cases.dump(1) << '\n';
        return;
    }
    std::cout << "processor " << processor() << ", level " << quarry::name_of(quarry::simd_level()) << ", load "
              << load() << '\n';
    for (const auto& one : cases) std::cout << one.dump() << '\n';
}

}  // namespace bench
