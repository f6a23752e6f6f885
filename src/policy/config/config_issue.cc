#include "policy/config/config_issue.h"

#include <algorithm>

#include "base/json_writer.h"
#include "base/limits.h"

namespace brim {
namespace {

std::string_view SeverityName(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }

// The bytes of a multi-byte character behind its first one take no column of their own.
bool IsInside(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string WithoutControls(std::string_view text) {
  std::string clean(text);
  std::replace_if(clean.begin(), clean.end(), IsControl, ' ');
  return clean;
}

// User and password of a URL, as many stars as bytes: excerpts end up in terminals and tickets.
std::string WithoutUserinfo(std::string line) {
  constexpr std::string_view kScheme = "://";
  std::size_t at = 0;
  while ((at = line.find(kScheme, at)) !=
         std::string::npos) {  // stops: each turn goes on behind one
    at += kScheme.size();
    const std::size_t end = std::min(line.find_first_of(" \t\"'", at), line.size());
    const std::size_t host = line.rfind('@', end);
    if (host == std::string::npos || host < at) continue;
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(at),
              line.begin() + static_cast<std::ptrdiff_t>(host), '*');
  }
  return line;
}

// The line with a caret, as much of it as fits on a screen.
void AppendExcerpt(const ConfigIssue& issue, std::string_view text, std::string& out) {
  const std::string shown = WithoutUserinfo(WithoutControls(LineOf(text, issue.place.line)));
  std::string_view line = shown;
  std::size_t at = std::min(static_cast<std::size_t>(issue.place.column) - 1, line.size());
  if (at > limits::kMaxShownLineBytes / 2) {
    const std::size_t cut = at - limits::kMaxShownLineBytes / 2;
    line.remove_prefix(cut);
    at -= cut;
  }
  line = line.substr(0, limits::kMaxShownLineBytes);
  const std::size_t width = std::clamp<std::size_t>(issue.width, 1, line.size() - at + 1);

  const std::string number = std::to_string(issue.place.line);
  out.append("   ").append(number).append(" | ").append(line) += '\n';
  out.append(3 + number.size(), ' ');
  out += " | ";
  const std::string_view before = line.substr(0, at);
  out.append(before.size() -
                 static_cast<std::size_t>(std::count_if(before.begin(), before.end(), IsInside)),
             ' ');
  out += '^';
  const std::string_view meant = line.substr(at, width);
  const auto columns =
      meant.size() - static_cast<std::size_t>(std::count_if(meant.begin(), meant.end(), IsInside));
  if (columns > 1) out.append(columns - 1, '~');
  out += '\n';
  if (!issue.hint.empty()) {
    out.append(3 + number.size(), ' ');
    out += " = " + WithoutControls(issue.hint) + '\n';
  }
}

}  // namespace

std::string FormatIssue(const ConfigIssue& issue, std::string_view text) {
  std::string out = WithoutControls(issue.file);
  if (issue.place.line != 0) {
    out += ':' + std::to_string(issue.place.line) + ':' + std::to_string(issue.place.column);
  }
  out += ": ";
  out += SeverityName(issue.severity);
  if (!issue.code.empty()) out += " [" + issue.code + ']';
  out += ": " + WithoutControls(issue.message);
  if (!issue.field.empty()) out += " (" + WithoutControls(issue.field) + ')';
  out += '\n';
  if (issue.place.line != 0 && !text.empty()) {
    AppendExcerpt(issue, text, out);
  } else if (!issue.hint.empty()) {
    out += "   = " + WithoutControls(issue.hint) + '\n';
  }
  return out;
}

std::string IssuesAsJson(const std::vector<ConfigIssue>& issues) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  for (const ConfigIssue& issue : issues) {
    json.BeginObject().Key("severity").String(SeverityName(issue.severity));
    json.Key("code").String(issue.code).Key("file").String(issue.file);
    json.Key("line").Int(issue.place.line).Key("column").Int(issue.place.column);
    json.Key("field").String(issue.field).Key("message").String(issue.message);
    json.Key("hint").String(issue.hint).EndObject();
  }
  json.EndArray();
  return out;
}

}  // namespace brim
