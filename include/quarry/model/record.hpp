// Record and replay: paid replies as lines of JSON, and a whole build again without a model.
//
//     reply_file file("replies.jsonl");                         // appends; what stands there already stays
//     const auto model = recording(client, file);               // every reply and every failure, as it happens
//     ...
//     const auto offline = replaying(read_replies("replies.jsonl"));   // the same answers and failures, no network
//
// The same lines are the journal of a cache:
//
//     reply_store store([&](const paid_reply& r) { file.append(r); });
//     for (const recorded_reply& r : read_replies(path)) if (!r.failed) store.insert(r);
//
// A line is written out before the reply is used. A file whose last line was cut off by a crash loses that line and
// nothing else; any other damage is a data_error with the line's number.
//
// Needs nlohmann/json; nothing else in model/ does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "../config.hpp"
#include "../core/error.hpp"
#include "../core/file.hpp"
#include "../detail/sha256.hpp"
#include "../detail/text.hpp"
#include "../text/utf8.hpp"
#include "cache.hpp"
#include "generator.hpp"

namespace QUARRY_NAMESPACE {

/// A paid reply, or a failure with its message in place of the reply's text.
struct recorded_reply : paid_reply {
    bool failed = false;
};

/// One line, with its line break. Bytes that are no UTF-8 are written as hexadecimal digits and come back the same.
std::string to_json_line(const recorded_reply& r);

/// Errors  data_error `record.line` for anything that to_json_line does not write.
recorded_reply from_json_line(std::string_view line);

/// All lines of a text or of a file. A last line without a line break is left out: it was cut off.
///
/// Errors  data_error `record.line` with the number of the line; those of reading files.
std::vector<recorded_reply> parse_replies(std::string_view text);
inline std::vector<recorded_reply> read_replies(const std::string& path) {
    return parse_replies(detail::read_file(path));
}

/// A file that replies are appended to. append() may be called from several threads.
///
/// Errors  data_error `file.open`, `file.write`.
class reply_file {
   public:
    /// Opens or makes the file. A last line without a line break is cut off first, or the next would be joined to it.
    explicit reply_file(std::string path);

    /// Writes one line through to the system.
    void append(const recorded_reply& r);
    void append(const paid_reply& r) { append(recorded_reply{r}); }

   private:
    std::string path_;
    std::mutex mutex_;
    detail::file_handle file_;
};

/// Writes down every reply and failure of `generator`, and is otherwise the same. Not `cancelled`, which says nothing
/// of the model. The file must outlive it.
template <Generator G>
class recording_generator {
   public:
    recording_generator(G generator, reply_file& file, std::string model)
        : generator_(std::move(generator)), file_(&file), model_(std::move(model)) {
        if (model_.empty()) model_ = detail::generator_name(generator_);
    }

    completion operator()(const prompt& p, std::stop_token stop = {}) const {
        recorded_reply line;
        line.model = model_;
        line.version = p.version();
        line.prompt = p.fingerprint();
        try {
            line.reply = generate(generator_, p, std::move(stop));
        } catch (const cancelled&) {
            throw;
        } catch (const std::exception& e) {
            line.failed = true;
            line.reply.text = e.what();
            file_->append(line);
            throw;
        }
        file_->append(line);
        return std::move(line.reply);
    }
    const std::string& name() const noexcept { return model_; }

   private:
    G generator_;
    reply_file* file_;
    std::string model_;
};

template <Generator G>
recording_generator<G> recording(G generator, reply_file& file, std::string model = {}) {
    return recording_generator<G>(std::move(generator), file, std::move(model));
}

/// Answers from a recording. What was asked several times is answered in the recorded order, then by the last again.
///
/// Errors  callable_error `replay.unknown` for a prompt that was never asked; `replay.failure` with the message
///         where the recorded call failed.
class replaying_generator {
   public:
    explicit replaying_generator(std::vector<recorded_reply> replies, std::string model = {});

    completion operator()(const prompt& p) const;
    const std::string& name() const noexcept { return state_->model; }

   private:
    struct state {
        std::string model;
        std::mutex mutex;
        std::map<detail::digest, std::vector<recorded_reply>> replies;
        std::map<detail::digest, std::size_t> next;
    };

    std::shared_ptr<state> state_;
};

/// `model`  whose replies: may be left out where the recording is of one model.
/// Errors  usage_error `replay.model` where it is of several.
inline replaying_generator replaying(std::vector<recorded_reply> replies, std::string model = {}) {
    return replaying_generator(std::move(replies), std::move(model));
}

// ------------------------------------------------------------------------------------------------------------- detail

namespace detail {

inline bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const code_point c = decode(text);
        if (c.value == 0xFFFD && text.substr(0, c.length) != "\xEF\xBF\xBD") return false;
        text.remove_prefix(c.length);
    }
    return true;
}

inline std::optional<std::string> from_hexadecimal(std::string_view digits) {
    const auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    if (digits.size() % 2 != 0) return std::nullopt;
    std::string out;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const int high = value(digits[i]), low = value(digits[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(static_cast<unsigned char>(16 * high + low));
    }
    return out;
}

inline std::string to_hexadecimal(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        out += digits[static_cast<unsigned char>(c) >> 4];
        out += digits[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

[[noreturn]] inline void raise_record_line(std::string_view what) {
    raise<data_error>("record.line", concat("quarry::from_json_line: ", what));
}

// A member that must be there and be of this type. nlohmann's own getters throw what is not documented here.
inline std::string text_member(const nlohmann::json& line, const char* name) {
    const auto found = line.find(name);
    if (found == line.end() || !found->is_string()) raise_record_line(concat("no text called ", name));
    return found->get<std::string>();
}

inline std::uint64_t count_member(const nlohmann::json& usage, const char* name) {
    const auto found = usage.find(name);
    if (found == usage.end() || !found->is_number_unsigned()) raise_record_line(concat("no count called ", name));
    return found->get<std::uint64_t>();
}

}  // namespace detail

inline std::string to_json_line(const recorded_reply& r) {
    nlohmann::ordered_json line;
    const auto text = [&](const char* name, const char* as_bytes, const std::string& value) {
        if (detail::is_utf8(value)) line[name] = value;
        else line[as_bytes] = detail::to_hexadecimal(value);
    };
    text("model", "model_bytes", r.model);
    text("version", "version_bytes", r.version);
    line["prompt"] = detail::hexadecimal(r.prompt);
    if (r.failed) text("failure", "failure_bytes", r.reply.text);
    else text("text", "text_bytes", r.reply.text);
    if (r.reply.cut_off) line["cut_off"] = true;
    if (r.reply.used)
        line["used"] = {{"input", r.reply.used->input},
                        {"cache_write", r.reply.used->cache_write},
                        {"cache_read", r.reply.used->cache_read},
                        {"output", r.reply.used->output}};
    return line.dump() + '\n';
}

inline recorded_reply from_json_line(std::string_view text) {
    const auto line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object()) detail::raise_record_line("this is no JSON object: " + detail::quoted(text));
    const auto member = [&](const char* name, const char* as_bytes) {
        if (!line.contains(as_bytes)) return detail::text_member(line, name);
        auto bytes = detail::from_hexadecimal(detail::text_member(line, as_bytes));
        if (!bytes) detail::raise_record_line(detail::concat(as_bytes, " is not made of pairs of hexadecimal digits"));
        return *std::move(bytes);
    };
    recorded_reply r;
    r.model = member("model", "model_bytes");
    r.version = member("version", "version_bytes");
    const auto digest = detail::from_hexadecimal(detail::text_member(line, "prompt"));
    if (!digest || digest->size() != r.prompt.size()) detail::raise_record_line("prompt is not a digest of 64 digits");
    std::ranges::transform(*digest, r.prompt.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    r.failed = line.contains("failure") || line.contains("failure_bytes");
    r.reply.text = r.failed ? member("failure", "failure_bytes") : member("text", "text_bytes");
    if (const auto cut = line.find("cut_off"); cut != line.end()) {
        if (!cut->is_boolean()) detail::raise_record_line("cut_off is neither true nor false");
        r.reply.cut_off = cut->get<bool>();
    }
    if (const auto used = line.find("used"); used != line.end()) {
        if (!used->is_object()) detail::raise_record_line("used is no object");
        r.reply.used = token_usage{detail::count_member(*used, "input"), detail::count_member(*used, "cache_write"),
                                   detail::count_member(*used, "cache_read"), detail::count_member(*used, "output")};
    }
    return r;
}

inline std::vector<recorded_reply> parse_replies(std::string_view text) {
    std::vector<recorded_reply> out;
    text = text.substr(0, text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
    detail::for_each_line(text, [&](std::string_view line, std::size_t number) {
        if (detail::trimmed(line).empty()) return;
        try {
            out.push_back(from_json_line(line));
        } catch (const data_error& e) {
            detail::raise<data_error>("record.line", detail::concat("line ", number, ": ", e.what()));
        }
    });
    return out;
}

inline reply_file::reply_file(std::string path) : path_(std::move(path)) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path_, ignored)) {
        const std::string all = detail::read_file(path_);
        const std::size_t last = all.rfind('\n');
        const std::size_t whole = last == std::string::npos ? 0 : last + 1;
        std::error_code failed;
        if (whole != all.size()) std::filesystem::resize_file(path_, whole, failed);
        if (failed)
            detail::raise<data_error>("file.write", detail::concat("cannot shorten ", path_, ": ", failed.message()));
    }
    file_.reset(std::fopen(path_.c_str(), "ab"));
    if (!file_) detail::raise_file_error("file.open", "write", path_);
}

inline void reply_file::append(const recorded_reply& r) {
    const std::string line = to_json_line(r);
    const std::lock_guard lock(mutex_);
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0)
        detail::raise_file_error("file.write", "write", path_);
}

inline replaying_generator::replaying_generator(std::vector<recorded_reply> replies, std::string model)
    : state_(std::make_shared<state>()) {
    for (recorded_reply& r : replies) {
        if (model.empty() && !state_->model.empty() && r.model != state_->model)
            detail::raise<usage_error>("replay.model", "quarry::replaying: the recording is of several models, " +
                                                           detail::quoted(state_->model) + " and " +
                                                           detail::quoted(r.model) + ": say which");
        if (!model.empty() && r.model != model) continue;
        state_->model = r.model;
        state_->replies[r.prompt].push_back(std::move(r));
    }
    if (!model.empty()) state_->model = std::move(model);
}

inline completion replaying_generator::operator()(const prompt& p) const {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->replies.find(p.fingerprint());
    if (found == state_->replies.end())
        detail::raise<callable_error>("replay.unknown",
                                      "quarry::replaying: this prompt was never asked: " + detail::quoted(p.fresh()));
    std::size_t& next = state_->next[p.fingerprint()];
    const recorded_reply& r = found->second[next];
    if (next + 1 < found->second.size()) ++next;
    if (r.failed) detail::raise<callable_error>("replay.failure", r.reply.text);
    return r.reply;
}

}  // namespace QUARRY_NAMESPACE
