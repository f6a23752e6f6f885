// What a route answers by itself: a JSON text with places for values of the query string.
//
//   {"query": "${query.q}", "results": []}
//
// A place stands inside a JSON string; its value is percent-decoded ('+' is a space) and escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <brim/result.h>

namespace brim::door {

// Immutable.
class RespondTemplate {
 public:
  // kInvalid, field "respond": a place that is not closed, or names anything but query.NAME.
  static Result<RespondTemplate> Parse(std::string_view text);

  enum class Fault { kNone, kMissing, kBadEncoding };
  struct Outcome {
    Fault fault = Fault::kNone;
    std::string_view parameter;  // the one at fault; lives as long as the template
  };
  // Appends the text with the values of `query` (as sent) in their places. A parameter that comes
  // several times counts as its first value. On a fault `out` may hold a part of the text.
  Outcome Fill(std::string_view query, std::string& out) const;

 private:
  struct Part {
    std::string text;       // comes first
    std::string parameter;  // then its value; empty: none, only in the last part
  };
  std::vector<Part> parts_;
};

}  // namespace brim::door
