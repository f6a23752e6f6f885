// The only file that sees spdlog, so that no other pays for compiling it.
#include "base/log.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/json_writer.h"
#include "base/text.h"

namespace brim {
namespace {

constexpr std::chrono::seconds kOncePer{1};

bool IsBare(unsigned char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z') ||
         std::string_view("-_.:/@[]").find(byte) != std::string_view::npos;
}

void AppendQuoted(std::string_view value, std::string& line) {
  line += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '"' || byte == '\\') {
      line += '\\';
      line += c;
    } else if (byte == '\n') {
      line += "\\n";
    } else if (byte == '\r') {
      line += "\\r";
    } else if (byte < 0x20 || byte >= 0x7F) {
      line += "\\x";
      AppendHex(byte, line);
    } else {
      line += c;
    }
  }
  line += '"';
}

void AppendField(std::string_view key, std::string_view value, std::string& line) {
  line += ' ';
  line += key;
  line += '=';
  if (!value.empty() && std::all_of(value.begin(), value.end(), IsBare)) {
    line += value;
  } else {
    AppendQuoted(value, line);
  }
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

constexpr char kTextLine[] = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr char kJsonLine[] = R"({"time": "%Y-%m-%dT%H:%M:%S.%eZ", "level": "%l", %v})";

void SetPattern(spdlog::logger& logger, const char* pattern) {
  logger.set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
}

// The process has one stderr, hence one of these; nobody else can reach it.
struct Output {
  Output() : logger("brim", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    SetPattern(logger, kTextLine);
    logger.flush_on(spdlog::level::info);
  }
  spdlog::logger logger;
  LogFolder folder;
  LogFormat format = LogFormat::kText;
};

Output& TheOutput() {
  static Output output;
  return output;
}

}  // namespace

void SetLogFormat(LogFormat format) {
  TheOutput().format = format;
  SetPattern(TheOutput().logger, format == LogFormat::kJson ? kJsonLine : kTextLine);
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Output& output = TheOutput();
  const auto suppressed = output.folder.Pass(event, std::chrono::steady_clock::now());
  if (!suppressed) return;
  std::string line;
  if (output.format == LogFormat::kJson) {
    line = FormatLogMembers(event, fields, *suppressed);
  } else {
    line = FormatLogLine(event, fields);
    if (*suppressed != 0) AppendField("suppressed", std::to_string(*suppressed), line);
  }
  // spdlog reports a failed write by its own error handler and throws nothing from here.
  output.logger.log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

std::string FormatLogMembers(std::string_view event, std::initializer_list<LogField> fields,
                             std::int64_t suppressed) {
  std::string line;
  JsonWriter json(line);
  json.Key("event").String(event);
  for (const LogField& field : fields) json.Key(field.key).String(field.value);
  if (suppressed != 0) json.Key("suppressed").Int(suppressed);
  return line;
}

std::string FormatLogLine(std::string_view event, std::initializer_list<LogField> fields) {
  std::string line(event);
  for (const LogField& field : fields) AppendField(field.key, field.value, line);
  return line;
}

std::optional<std::int64_t> LogFolder::Pass(std::string_view event, Time now) {
  const std::lock_guard lock(mu_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.event == event; });
  if (entry == entries_.end()) {
    entries_.push_back({event, now});
    return 0;
  }
  if (now - entry->passed < kOncePer) {
    ++entry->suppressed;
    return std::nullopt;
  }
  entry->passed = now;
  return std::exchange(entry->suppressed, 0);
}

}  // namespace brim
