#include "limits.h"

#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "door/http_answer.h"
#include "door/rate_headers.h"
#include "errors.h"
#include "policy/policy_set.h"

namespace nb = nanobind;

namespace brim::python {
namespace {

constexpr std::size_t kMaxParsedTexts = 256;
constexpr HeaderFamilies kFamilies = {};
constexpr double kMaxSeconds = 1e9;  // beyond every window; its microseconds are exact in a double

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using ParsedTexts =
    std::unordered_map<std::string, std::shared_ptr<const LimitList>, TextHash, std::equal_to<>>;

// Most programs know a few texts and pass them with every call. Guarded by the GIL. Forgets all
// when it is full, so that texts from outside cannot fill the memory. Never destroyed: calls may
// come while the interpreter ends.
std::shared_ptr<const LimitList> Parse(std::string_view text) {
  static auto& known = *new ParsedTexts;
  if (const auto found = known.find(text); found != known.end()) return found->second;
  auto parsed = std::make_shared<const LimitList>(ValueOrRaise(ParseLimits(text)));
  if (known.size() >= kMaxParsedTexts) known.clear();
  known.emplace(text, parsed);
  return parsed;
}

std::string PolicyOf(std::span<const Limit> limits) {
  std::vector<LimitItem> items;
  for (const Limit& limit : limits) items.push_back({.limit = limit});
  return door::PolicyValue(items);
}

std::string_view TextOf(nb::handle argument) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(argument.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

void Collect(nb::handle item, std::vector<Limit>& collected) {
  const LimitsArgument limits(item);
  collected.insert(collected.end(), limits.limits().begin(), limits.limits().end());
}

template <typename T>
T OneOf(std::string_view word, const char* field,
        std::initializer_list<std::pair<std::string_view, T>> known) {
  std::string names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names.append(names.empty() ? "" : ", ").append(name);
  }
  Raise({ErrorCode::kInvalid,
         std::string(field) + " \"" + std::string(word) + "\" is unknown; one of: " + names,
         field});
}

Algorithm AlgorithmOf(std::string_view name) {
  const std::optional<Algorithm> algorithm = ParseAlgorithm(name);
  if (algorithm) return *algorithm;
  Raise({ErrorCode::kInvalid,
         "algorithm \"" + std::string(name) +
             "\" is unknown; one of: sliding_window, fixed_window, token_bucket, "
             "sliding_window_counter",
         "algorithm"});
}

Limit MakeLimit(Units units, double window_seconds, std::string_view algorithm,
                std::optional<Units> burst, bool aligned, std::string_view count,
                std::string_view mode, bool weighted, std::string_view key) {
  return ValueOrRaise(Limit::Create({
      .units = units,
      .window = FromSeconds(window_seconds, "window"),
      .algorithm = AlgorithmOf(algorithm),
      .anchor = aligned ? Anchor::kAligned : Anchor::kFirstHit,
      .count = OneOf<Count>(count, "count", {{"admitted", Count::kAdmitted}, {"all", Count::kAll}}),
      .mode = OneOf<Mode>(
          mode, "mode",
          {{"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}, {"off", Mode::kOff}}),
      .key = OneOf<KeyForm>(key, "key", {{"full", KeyForm::kFull}, {"plain", KeyForm::kPlain}}),
      .burst = burst,
      .weighted = weighted,
  }));
}

const char* CountName(Count count) { return count == Count::kAll ? "all" : "admitted"; }
const char* KeyName(KeyForm key) { return key == KeyForm::kPlain ? "plain" : "full"; }

// All that makes a limit what it is, for comparison and hash.
nb::tuple Parts(const Limit& limit) {
  return nb::make_tuple(limit.units(), limit.window().count(), limit.burst(),
                        static_cast<int>(limit.algorithm()), static_cast<int>(limit.anchor()),
                        static_cast<int>(limit.count()), static_cast<int>(limit.mode()),
                        static_cast<int>(limit.key()), limit.weighted());
}

nb::object EqualLimits(const Limit& limit, nb::handle other) {
  const Limit* right = nullptr;
  if (!nb::try_cast(other, right) || right == nullptr) return nb::borrow(Py_NotImplemented);
  return nb::bool_(Parts(limit).equal(Parts(*right)));
}

// door writes a block of lines; Python wants pairs. make(name, value) makes one.
template <typename Make>
nb::list HeaderPairs(const LimitList& limits, const Decision& decision, Make make) {
  net::HttpResponse response;
  door::AddPolicyHeader(limits.policy(), kFamilies, response);
  door::AddDecisionHeaders(decision, kFamilies, response);
  nb::list headers;
  std::string_view rest = response.headers;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    const std::size_t colon = line.find(": ");
    headers.append(make(line.substr(0, colon), line.substr(colon + 2)));
    rest.remove_prefix(line.size() + 2);
  }
  return headers;
}

nb::list Headers(const LimitList& limits, const Decision& decision) {
  return HeaderPairs(limits, decision, [](std::string_view name, std::string_view value) {
    return nb::make_tuple(nb::str(name.data(), name.size()), nb::str(value.data(), value.size()));
  });
}

// As ASGI wants them: bytes, and the names in lower case.
nb::list RawHeaders(const LimitList& limits, const Decision& decision) {
  return HeaderPairs(limits, decision, [](std::string_view name, std::string_view value) {
    std::string lower(name);
    for (char& c : lower) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return nb::make_tuple(nb::bytes(lower.data(), lower.size()),
                          nb::bytes(value.data(), value.size()));
  });
}

// Of a refusal: the whole decision as JSON, as brim's own HTTP doors tell it.
nb::bytes Body(const Decision& decision) {
  std::string body;
  door::AppendDecisionBody(decision, body);
  return nb::bytes(body.data(), body.size());
}

Limit LimitAt(const LimitList& limits, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(limits.limits().size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) throw nb::index_error();
  return limits.limits()[static_cast<std::size_t>(index)];
}

}  // namespace

LimitList::LimitList(std::vector<Limit> limits)
    : limits_(std::move(limits)), policy_(PolicyOf(limits_)) {}

LimitsArgument::LimitsArgument(nb::handle argument) {
  const Limit* limit = nullptr;
  const LimitList* list = nullptr;
  if (PyUnicode_Check(argument.ptr())) {
    parsed_ = Parse(TextOf(argument));
    limits_ = parsed_->limits();
  } else if (nb::try_cast(argument, list) && list != nullptr) {
    limits_ = list->limits();
  } else if (nb::try_cast(argument, limit) && limit != nullptr) {
    limits_ = {limit, 1};
  } else if (PyList_Check(argument.ptr()) || PyTuple_Check(argument.ptr())) {
    for (const nb::handle item : nb::borrow(argument)) {
      if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
        throw nb::type_error("limits is a list of lists; give a list of limits");
      }
      Collect(item, collected_);
    }
    limits_ = collected_;
  } else {
    throw nb::type_error(
        "limits must be a text such as \"5 per minute\", a Limit, a Limits, or a list of these");
  }
}

Micros FromSeconds(double seconds, const char* field) {
  if (!(std::abs(seconds) <= kMaxSeconds)) {
    Raise({ErrorCode::kInvalid, std::string(field) + " must be seconds, at most 366 days", field});
  }
  return Micros(std::llround(seconds * 1e6));
}

double ToSeconds(Micros duration) { return static_cast<double>(duration.count()) / 1e6; }

void BindLimits(nb::module_& module) {
  nb::class_<Limit>(module, "Limit")
      .def(
          "__init__",
          [](Limit* self, Units units, double window_seconds, std::string_view algorithm,
             std::optional<Units> burst, bool aligned, std::string_view count,
             std::string_view mode, bool weighted, std::string_view key) {
            new (self) Limit(MakeLimit(units, window_seconds, algorithm, burst, aligned, count,
                                       mode, weighted, key));
          },
          nb::arg("units"), nb::arg("window_seconds"), nb::kw_only(),
          nb::arg("algorithm") = "sliding_window", nb::arg("burst") = nb::none(),
          nb::arg("aligned") = false, nb::arg("count") = "admitted", nb::arg("mode") = "enforce",
          nb::arg("weighted") = false, nb::arg("key") = "full")
      .def_static(
          "parse",
          [](std::string_view text, std::string_view algorithm) {
            return ValueOrRaise(ParseLimit(text, AlgorithmOf(algorithm)));
          },
          nb::arg("text"), nb::kw_only(), nb::arg("algorithm") = "sliding_window")
      .def_prop_ro("units", &Limit::units)
      .def_prop_ro("window_seconds", [](const Limit& limit) { return ToSeconds(limit.window()); })
      .def_prop_ro("window", [](const Limit& limit) { return WindowName(limit.window()); })
      .def_prop_ro("capacity", &Limit::capacity)
      .def_prop_ro("burst", &Limit::burst)
      .def_prop_ro("algorithm", [](const Limit& limit) { return AlgorithmName(limit.algorithm()); })
      .def_prop_ro("aligned", [](const Limit& limit) { return limit.anchor() == Anchor::kAligned; })
      .def_prop_ro("count", [](const Limit& limit) { return CountName(limit.count()); })
      .def_prop_ro("mode", [](const Limit& limit) { return ModeName(limit.mode()); })
      .def_prop_ro("weighted", &Limit::weighted)
      .def_prop_ro("key", [](const Limit& limit) { return KeyName(limit.key()); })
      .def("__eq__", &EqualLimits, nb::arg("other").none())
      .def("__hash__", [](const Limit& limit) { return nb::hash(Parts(limit)); })
      .def("__str__", &FormatLimit)
      .def("__repr__",
           [](const Limit& limit) { return "Limit.parse(\"" + FormatLimit(limit) + "\")"; });

  nb::class_<LimitList>(module, "Limits")
      .def(
          "__init__",
          [](LimitList* self, nb::handle limits) {
            const LimitsArgument read(limits);
            new (self) LimitList({read.limits().begin(), read.limits().end()});
          },
          nb::arg("limits"))
      .def("__len__", [](const LimitList& limits) { return limits.limits().size(); })
      .def("__getitem__", &LimitAt, nb::arg("index"))
      .def("headers", &Headers, nb::arg("decision"))
      .def("raw_headers", &RawHeaders, nb::arg("decision"))
      .def("__repr__", [](const LimitList& limits) {
        std::string text;
        for (const Limit& limit : limits.limits()) {
          text.append(text.empty() ? "" : "; ").append(FormatLimit(limit));
        }
        return "Limits(\"" + text + "\")";
      });
  module.def("body", &Body, nb::arg("decision"));
}

}  // namespace brim::python
