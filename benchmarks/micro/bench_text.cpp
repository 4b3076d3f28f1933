// Text: how fast bytes become words, terms, sentences and chunks, beside a loop that copies them.
//
//     bench_text [--benchmark_filter=english]
//
// English is the bundled help centre (real prose, nearly all ASCII); Russian and Chinese are one paragraph repeated.
// bytes_per_second is what to compare; its ratio to that of `copy` is what to quote, since machines differ.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "quarry/text/analyzer.hpp"
#include "quarry/text/chunker.hpp"
#include "quarry/text/code_analyzer.hpp"
#include "quarry/text/normalize.hpp"
#include "quarry/text/sentences.hpp"
#include "quarry/text/tokenizer.hpp"

using namespace quarry;

namespace {

constexpr std::size_t megabyte = 1000 * 1000;

std::string repeated(const std::string& text) {
    std::string out;
    while (out.size() < megabyte) out += text;
    return out;
}

const std::string& english_text() {
    static const std::string text = [] {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(QUARRY_HELP_CENTRE "/articles"))
            if (entry.path().extension() == ".md") files.push_back(entry.path());
        std::ranges::sort(files);
        std::string all;
        for (const auto& path : files) {
            std::ifstream file(path, std::ios::binary);
            all.append(std::istreambuf_iterator<char>(file), {});
        }
        return repeated(all);
    }();
    return text;
}

const std::string& ascii_text() {
    static const std::string text = [] {
        std::string out = english_text();
        std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
        return out;
    }();
    return text;
}

const std::string& russian_text() {
    static const std::string text = repeated(
        "Котёл включается, когда температура в комнате опускается ниже заданной. Если датчик не отвечает, проверьте "
        "батарею и расстояние до концентратора; после замены батареи подождите две минуты.\n");
    return text;
}

const std::string& chinese_text() {
    static const std::string text = repeated(
        "当室内温度低于设定值时，锅炉会自动启动。如果传感器没有响应，请检查电池以及它与集线器之间的距离。更换电池后请等待两分钟。\n");
    return text;
}

void counted(benchmark::State& state, const std::string& text) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void copy(benchmark::State& state) {
    const std::string& text = ascii_text();
    std::string out(text.size(), '\0');
    for (auto _ : state) {
        // Byte by byte: without the barrier the compiler makes a memcpy of it.
        for (std::size_t i = 0; i < text.size(); ++i) {
            out[i] = text[i];
            asm volatile("" ::: "memory");
        }
        benchmark::DoNotOptimize(out.data());
    }
    counted(state, text);
}

void words(benchmark::State& state, const std::string& text) {
    for (auto _ : state) {
        std::size_t count = 0;
        for_each_word(text, [&](std::size_t begin, std::size_t end) { count += end - begin; });
        benchmark::DoNotOptimize(count);
    }
    counted(state, text);
}

void terms(benchmark::State& state, const std::string& text, const analyzer& with) {
    for (auto _ : state) {
        std::size_t count = 0;
        with(text, [&](const token& t) { count += t.term.size(); });
        benchmark::DoNotOptimize(count);
    }
    counted(state, text);
}

void normal(benchmark::State& state, const std::string& text) {
    for (auto _ : state) benchmark::DoNotOptimize(normalized(text, normal_form::nfc).size());
    counted(state, text);
}

void sentences(benchmark::State& state, const std::string& text) {
    for (auto _ : state) {
        std::size_t count = 0;
        for (std::size_t at = 0; at < text.size(); ++count) at = sentence_end(text, at);
        benchmark::DoNotOptimize(count);
    }
    counted(state, text);
}

void chunking(benchmark::State& state, const std::string& text) {
    const chunker cut({.most_tokens = 256, .overlap_tokens = 32});
    for (auto _ : state) benchmark::DoNotOptimize(cut(text).size());
    counted(state, text);
}

}  // namespace

BENCHMARK(copy);
BENCHMARK_CAPTURE(words, ascii, ascii_text());
BENCHMARK_CAPTURE(words, english, english_text());
BENCHMARK_CAPTURE(words, russian, russian_text());
BENCHMARK_CAPTURE(words, chinese, chinese_text());
BENCHMARK_CAPTURE(terms, unicode_ascii, ascii_text(), unicode());
BENCHMARK_CAPTURE(terms, unicode_english, english_text(), unicode());
BENCHMARK_CAPTURE(terms, unicode_russian, russian_text(), unicode());
BENCHMARK_CAPTURE(terms, unicode_chinese, chinese_text(), unicode());
BENCHMARK_CAPTURE(terms, english_ascii, ascii_text(), english());
BENCHMARK_CAPTURE(terms, code_ascii, ascii_text(), code());
BENCHMARK_CAPTURE(normal, english, english_text());
BENCHMARK_CAPTURE(normal, russian, russian_text());
BENCHMARK_CAPTURE(sentences, english, english_text());
BENCHMARK_CAPTURE(chunking, english, english_text());
BENCHMARK_CAPTURE(chunking, chinese, chinese_text());

BENCHMARK_MAIN();
