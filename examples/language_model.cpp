#include "language_model.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

extern char** environ;

using namespace quarry;

namespace {

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// A file without a name, gone when it is closed.
using scratch_file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

scratch_file scratch(std::string_view contents = {}) {
    scratch_file file(std::tmpfile(), &std::fclose);
    if (!file || std::fwrite(contents.data(), 1, contents.size(), file.get()) != contents.size() ||
        std::fflush(file.get()) != 0)
        throw std::runtime_error("no temporary file could be written");
    std::rewind(file.get());
    return file;
}

std::string contents_of(std::FILE* file) {
    std::rewind(file);
    std::string out;
    std::array<char, 4096> some;
    while (const std::size_t n = std::fread(some.data(), 1, some.size(), file)) out.append(some.data(), n);
    return out;
}

// A line of a file of curl's options. Values are told by a file and not as arguments, which every user of the machine
// could read.
std::string option(std::string_view name, std::string_view value) {
    std::string line(name);
    line += " = \"";
    for (const char c : value) {
        if (c == '\n' || c == '\r') throw std::runtime_error("a line break in a value for curl");
        if (c == '"' || c == '\\') line += '\\';
        line += c;
    }
    return line += "\"\n";
}

// Runs curl with these options and gives what it prints. Stopping ends it.
std::string run_curl(const std::string& options, std::stop_token stop) {
    const scratch_file in = scratch(options), out = scratch();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ::fileno(in.get()), 0);
    posix_spawn_file_actions_adddup2(&files, ::fileno(out.get()), 1);
    std::string program = "curl", from = "--config", standard_input = "-";
    char* arguments[] = {program.data(), from.data(), standard_input.data(), nullptr};
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, "curl", &files, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) throw std::runtime_error("curl could not be started");
    {
        // Its number stays its own until waitpid, so that no other process is ended.
        const std::stop_callback ended(stop, [child] { ::kill(child, SIGTERM); });
        siginfo_t ignored;
        ::waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::string printed = contents_of(out.get());
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("curl failed: " + (printed.empty() ? "no answer" : printed.substr(0, 300)));
    return printed;
}

std::string body_of(const std::string& model, const prompt& p) {
    nlohmann::json messages = nlohmann::json::array();
    if (!p.system().empty()) messages.push_back({{"role", "system"}, {"content", p.system()}});
    messages.push_back({{"role", "user"}, {"content", p.text()}});
    const nlohmann::json body{{"model", model}, {"temperature", 0}, {"messages", std::move(messages)}};
    return body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

completion completion_of(const std::string& answer) {
    const nlohmann::json body = nlohmann::json::parse(answer);
    const nlohmann::json& choice = body.at("choices").at(0);
    completion out(choice.at("message").at("content").get<std::string>());
    out.cut_off = choice.value("finish_reason", "") == "length";
    if (const auto used = body.find("usage"); used != body.end())
        out.used = token_usage{.input = used->value("prompt_tokens", std::uint64_t{0}),
                               .output = used->value("completion_tokens", std::uint64_t{0})};
    return out;
}

}  // namespace

language_model::language_model(std::function<std::string(const prompt&)> stand_in) : stand_in_(std::move(stand_in)) {
    const std::string url = from_environment("QUARRY_SERVER_URL"), model = from_environment("QUARRY_SERVER_MODEL");
    if (url.empty() || model.empty()) return;
    url_ = url + "/chat/completions";
    key_ = from_environment("QUARRY_SERVER_KEY");
    name_ = model;
}

completion language_model::operator()(const prompt& p, std::stop_token stop) const {
    if (!is_served()) return stand_in_(p);
    std::string options = "silent\nshow-error\nmax-time = 300\nfail-with-body\n";
    options += option("url", url_) + option("header", "Content-Type: application/json");
    if (!key_.empty()) options += option("header", "Authorization: Bearer " + key_);
    return completion_of(run_curl(options + option("data", body_of(name_, p)), std::move(stop)));
}
