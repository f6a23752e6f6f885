// Log lines for operators: what changed, as `time level event key=value ...` or as a JSON object on
// stderr. For main() and the doors; the libraries below them print nothing.
//
//   Log(LogLevel::kWarning, "store_lost", {{"store", "redis"}, {"error", text}});
//
// Values may hold anything: they are quoted and escaped, so that no client can forge a line or send
// a terminal an escape sequence. An event is written at most once a second; the next line of it
// tells how many were left out (suppressed=N). Never log a client's key, nor a line per request.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brim {

enum class LogLevel : std::uint8_t { kInfo, kWarning, kError };

struct LogField {
  LogField(std::string_view key, std::string_view value) : key(key), value(value) {}
  LogField(std::string_view key, std::int64_t value) : key(key), value(std::to_string(value)) {}
  std::string_view key;  // ours: lower_case
  std::string value;
};

// `event` is a literal of our own: lower_case, one for each kind of event. Thread-safe.
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

enum class LogFormat : std::uint8_t { kText, kJson };

// From the next line on. Before other threads log.
void SetLogFormat(LogFormat format);

// The members behind time and level of a JSON line: `"event": "x", "key": "value", ...`.
std::string FormatLogMembers(std::string_view event, std::initializer_list<LogField> fields,
                             std::int64_t suppressed = 0);

// `event key=value ...` as Log writes it; a value with more than letters, digits and -_.:/@[]
// is quoted.
std::string FormatLogLine(std::string_view event, std::initializer_list<LogField> fields);

// Lets one of each event through a second, and counts the others. Thread-safe.
class LogFolder {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // How many were left out since the last one that passed; nullopt if this one is left out too.
  // `event` must live as long as the folder.
  std::optional<std::int64_t> Pass(std::string_view event, Time now);

 private:
  struct Entry {
    std::string_view event;
    Time passed;
    std::int64_t suppressed = 0;
  };
  std::mutex mu_;
  std::vector<Entry> entries_;  // GUARDED_BY(mu_); one for each event in the source: a few
};

}  // namespace brim
