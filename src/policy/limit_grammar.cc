// A hand-written parser with one token of look-ahead. Every refusal goes through Expected(): the
// word, its place, what would have been right there, and an example.
#include "policy/limit_grammar.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <brim/limit.h>
#include "base/limits.h"
#include "base/text.h"
#include "policy/did_you_mean.h"

namespace brim {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}
bool IsWordByte(char c) { return (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '_'; }
bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

std::int64_t ValueOf(std::string_view digits) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  for (const char c : digits) {
    if (value > (kMax - (c - '0')) / 10) return kMax;
    value = value * 10 + (c - '0');
  }
  return value;
}

Error Invalid(std::string message) { return {ErrorCode::kInvalid, std::move(message), "limit"}; }

std::string Join(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

// What stands at a place: `expected` says it in words, `known` are the words that hints may
// propose.
Error Expected(const Token& token, std::string_view expected,
               const std::vector<std::string_view>& known = {}) {
  std::string message = "found " + Describe(token) + " at position " +
                        std::to_string(token.position) + ", expected " + std::string(expected);
  const std::string_view meant = DidYouMean(Lower(token.text), known);
  message += meant.empty() ? "." : "; did you mean '" + std::string(meant) + "'?";
  return Invalid(message + " Example: \"5 per minute; 100 per day fixed_window\"");
}

std::vector<std::string_view> UnitWords() {
  std::vector<std::string_view> words;
  for (const WindowUnit& unit : kWindowUnits) {
    for (const std::string_view word : {unit.brief, unit.middle, unit.name, unit.plural}) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
  return words;
}

const WindowUnit* FindUnit(const Token& token) {
  for (const WindowUnit& unit : kWindowUnits) {
    if (token.Is(unit.name) || token.Is(unit.plural) || token.Is(unit.brief) ||
        token.Is(unit.middle)) {
      return &unit;
    }
  }
  return nullptr;
}

// Reads one limit, up to the ';' or the end behind it.
class LimitParser {
 public:
  LimitParser(Tokenizer& tokens, Algorithm algorithm) : tokens_(tokens) {
    spec_.algorithm = algorithm;
  }

  Result<Limit> Parse() {
    using Step = Result<void> (LimitParser::*)();
    for (const Step step :
         {&LimitParser::ReadUnits, &LimitParser::ReadWindow, &LimitParser::ReadOptions}) {
      if (Result<void> done = (this->*step)(); !done) return done.error();
    }
    if (spec_.burst && !algorithm_named_) spec_.algorithm = Algorithm::kTokenBucket;
    Result<Limit> limit = Limit::Create(spec_);
    if (!limit) return Invalid(limit.error().field + ": " + limit.error().message);
    return limit;
  }

 private:
  // A word behind the window. A new one is a row in kOptions; one that is followed by a number
  // takes it from tokens_.
  struct Option {
    std::string_view word;
    std::string_view setting;  // what it sets; a limit names each setting at most once
    Result<void> (*read)(LimitParser& parser);
  };
  static const Option kOptions[];

  template <Algorithm algorithm>
  static Result<void> SetAlgorithm(LimitParser& parser) {
    parser.spec_.algorithm = algorithm;
    parser.algorithm_named_ = true;
    return {};
  }
  static Result<void> SetAligned(LimitParser& parser) {
    parser.spec_.anchor = Anchor::kAligned;
    return {};
  }
  static Result<void> SetWeighted(LimitParser& parser) {
    parser.spec_.weighted = true;
    return {};
  }
  static Result<void> ReadBurst(LimitParser& parser) {
    const Token burst = parser.tokens_.Take();
    if (burst.kind != Token::Kind::kNumber || burst.value > Limit::kMaxUnits) {
      return Expected(burst, "a whole number of units behind 'burst', 0 to " +
                                 std::to_string(Limit::kMaxUnits));
    }
    parser.spec_.burst = burst.value;
    return {};
  }
  static Result<void> SetShadow(LimitParser& parser) {
    parser.spec_.mode = Mode::kShadow;
    return {};
  }

  Result<void> ReadUnits() {
    const Token units = tokens_.Take();
    if (units.kind != Token::Kind::kNumber || units.value > Limit::kMaxUnits) {
      return Expected(
          units, "a whole number of units without sign, 0 to " + std::to_string(Limit::kMaxUnits));
    }
    spec_.units = units.value;
    return {};
  }

  Result<void> ReadWindow() {
    const Token separator = tokens_.Take();
    if (!separator.Is("/") && !separator.Is("per")) {
      return Expected(separator, "'/' or 'per' behind the units", {"per"});
    }
    const Token count = tokens_.Peek();
    const bool counted = count.kind == Token::Kind::kNumber;
    if (counted) tokens_.Take();

    const Token word = tokens_.Take();
    const WindowUnit* unit = FindUnit(word);
    if (unit == nullptr) {
      const std::vector<std::string_view> known = UnitWords();
      return Expected(word, "a unit of time (" + Join(known) + ")", known);
    }
    if (counted && (count.value < 1 || count.value > Limit::kMaxWindow / unit->length)) {
      return Expected(count, "a window of 1 ms to 366 days");
    }
    spec_.window = (counted ? count.value : 1) * unit->length;
    return {};
  }

  Result<void> ReadOptions() {
    std::vector<std::string_view> settings;  // named so far
    while (tokens_.Peek().kind != Token::Kind::kEnd && !tokens_.Peek().Is(";")) {
      const Token word = tokens_.Take();
      const Option* option = FindOption(word);
      if (option == nullptr) return UnknownOption(word);
      if (std::find(settings.begin(), settings.end(), option->setting) != settings.end()) {
        return Expected(word, "one word for the " + std::string(option->setting) + " at most");
      }
      settings.push_back(option->setting);
      if (Result<void> done = option->read(*this); !done) return done;
    }
    return {};
  }

  static const Option* FindOption(const Token& word);
  static Error UnknownOption(const Token& word);

  Tokenizer& tokens_;
  LimitSpec spec_;
  bool algorithm_named_ = false;  // if not, a burst makes it a token bucket
};

constexpr LimitParser::Option LimitParser::kOptions[] = {
    {"sliding_window", "algorithm", SetAlgorithm<Algorithm::kSlidingWindow>},
    {"fixed_window", "algorithm", SetAlgorithm<Algorithm::kFixedWindow>},
    {"token_bucket", "algorithm", SetAlgorithm<Algorithm::kTokenBucket>},
    {"sliding_window_counter", "algorithm", SetAlgorithm<Algorithm::kSlidingWindowCounter>},
    {"burst", "burst", ReadBurst},
    {"aligned", "anchor", SetAligned},
    {"weighted", "weighting", SetWeighted},
    {"shadow", "mode", SetShadow},
};

const LimitParser::Option* LimitParser::FindOption(const Token& word) {
  for (const Option& option : kOptions) {
    if (word.Is(option.word)) return &option;
  }
  return nullptr;
}

Error LimitParser::UnknownOption(const Token& word) {
  std::vector<std::string_view> known;
  for (const Option& option : kOptions) known.push_back(option.word);
  return Expected(word, "the end, ';' or an option (" + Join(known) + ")", known);
}

std::optional<Error> RefuseLength(std::string_view text) {
  if (text.size() <= limits::kMaxLimitTextBytes) return std::nullopt;
  return Invalid("the text has " + std::to_string(text.size()) + " bytes: shorten it to at most " +
                 std::to_string(limits::kMaxLimitTextBytes));
}

bool IsShorter(const Limit& a, const Limit& b) { return a.window() < b.window(); }

// A full key names the window and the algorithm; the grammar knows no other keys.
Result<void> CheckDistinct(const std::vector<Limit>& limits) {
  for (auto a = limits.begin(); a != limits.end(); ++a) {
    const auto b = std::find_if(a + 1, limits.end(), [a](const Limit& other) {
      return other.window() == a->window() && other.algorithm() == a->algorithm() &&
             other.weighted() == a->weighted();
    });
    if (b == limits.end()) continue;
    std::string message = "two limits would share one key: '";
    message.append(FormatLimit(*a)).append("' and '").append(FormatLimit(*b));
    return Invalid(message + "'. Keep one, or change the window or the algorithm of one");
  }
  return {};
}

}  // namespace

bool Token::Is(std::string_view word) const {
  return (kind == Kind::kWord || kind == Kind::kSymbol) &&
         std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char mine, char theirs) { return Lower(mine) == theirs; });
}

std::string Describe(const Token& token) {
  if (token.kind == Token::Kind::kEnd) return "the end";
  if (token.kind == Token::Kind::kBad) {
    std::string text = "'\\x";
    AppendHex(static_cast<unsigned char>(token.text[0]), text);
    return text + "'";
  }
  std::string text = "'";
  text += token.text.substr(0, limits::kMaxShownWordBytes);
  text += token.text.size() > limits::kMaxShownWordBytes ? "...'" : "'";
  return text;
}

void Tokenizer::Advance() {
  at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
  const std::size_t start = at_;
  token_ = {Token::Kind::kEnd, {}, start + 1, 0};
  if (start == text_.size()) return;

  const char first = text_[start];
  const auto TakeWhile = [this](bool (*belongs)(char)) {
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  };
  if (IsDigit(first)) {
    token_.kind = Token::Kind::kNumber;
    TakeWhile(IsDigit);
  } else if (IsWordByte(first)) {
    token_.kind = Token::Kind::kWord;
    TakeWhile(IsWordByte);
  } else {
    token_.kind = IsPrintable(first) ? Token::Kind::kSymbol : Token::Kind::kBad;
    ++at_;
  }
  token_.text = text_.substr(start, at_ - start);
  if (token_.kind == Token::Kind::kNumber) token_.value = ValueOf(token_.text);
}

Result<Limit> ParseLimit(std::string_view text, Algorithm algorithm) {
  if (std::optional<Error> error = RefuseLength(text)) return *std::move(error);
  Tokenizer tokens(text);
  Result<Limit> limit = LimitParser(tokens, algorithm).Parse();
  if (limit && tokens.Peek().kind != Token::Kind::kEnd) {
    return Expected(tokens.Peek(), "the end: one limit alone can stand here");
  }
  return limit;
}

Result<std::vector<Limit>> ParseLimits(std::string_view text, Algorithm algorithm) {
  if (std::optional<Error> error = RefuseLength(text)) return *std::move(error);
  Tokenizer tokens(text);
  std::vector<Limit> limits;
  do {
    if (limits.size() == kMaxLines) {
      return Expected(tokens.Peek(),
                      "the end: at most " + std::to_string(kMaxLines) + " limits can stand here");
    }
    Result<Limit> limit = LimitParser(tokens, algorithm).Parse();
    if (!limit) return limit.error();
    // Behind those of the same window: equal windows keep their order.
    limits.insert(std::upper_bound(limits.begin(), limits.end(), *limit, IsShorter), *limit);
    if (tokens.Peek().Is(";")) tokens.Take();
  } while (tokens.Peek().kind != Token::Kind::kEnd);

  if (Result<void> distinct = CheckDistinct(limits); !distinct) return distinct.error();
  return limits;
}

}  // namespace brim
