#include "policy/config/yaml_tree.h"

#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/limits.h"
#include "base/text.h"

namespace brim {
namespace {

YamlPlace PlaceOf(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

// Builds the tree from the parser's events. It refuses as the parser does, by its exception: that
// is the only way out of the middle of a document.
class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlNode Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add({.kind = YamlNode::Kind::kNull, .place = PlaceOf(mark), .text = {}, .items = {}}, anchor,
        mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag != "?" && tag != "!") Refuse(mark, "tags are not supported: leave it out");
    Add({.kind = YamlNode::Kind::kScalar,
         .plain = tag == "?",
         .place = PlaceOf(mark),
         .text = value,
         .items = {}},
        anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Refuse(mark, "the alias stands inside what it refers to");
    // Counted as what it stands for: else a few lines could stand for millions.
    nodes_ += CountOf(found->second);
    YamlNode copy = found->second;
    copy.place = PlaceOf(mark);
    Add(std::move(copy), 0, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  struct Unfinished {
    YamlNode node;
    YAML::anchor_t anchor;
    YAML::Mark mark;
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, const std::string& message) {
    throw YAML::ParserException(mark, message);
  }

  static std::size_t CountOf(const YamlNode& node) {
    std::size_t count = 1;
    for (const YamlNode& item : node.items) count += CountOf(item);
    return count;
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    if (!tag.empty() && tag != "?") Refuse(mark, "tags are not supported: leave it out");
    if (open_.size() == limits::kMaxYamlDepth) {
      Refuse(mark, "nested deeper than " + std::to_string(limits::kMaxYamlDepth) + " levels");
    }
    open_.push_back(
        {{.kind = kind, .place = PlaceOf(mark), .text = {}, .items = {}}, anchor, mark});
  }

  void Close() {
    Unfinished done = std::move(open_.back());
    open_.pop_back();
    Add(std::move(done.node), done.anchor, done.mark);
  }

  void Add(YamlNode node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (++nodes_ > limits::kMaxYamlNodes) {
      Refuse(mark, "more than " + std::to_string(limits::kMaxYamlNodes) +
                       " values, those that aliases repeat included");
    }
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    YamlNode& parent = open_.back().node;
    const bool is_key = parent.kind == YamlNode::Kind::kMap && parent.items.size() % 2 == 0;
    if (is_key && node.kind != YamlNode::Kind::kScalar) Refuse(mark, "a key must be a word");
    parent.items.push_back(std::move(node));
  }

  YamlNode root_{.kind = YamlNode::Kind::kMap, .place = {1, 1}, .text = {}, .items = {}};
  std::vector<Unfinished> open_;  // the maps and lists around what comes next, outermost first
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::size_t nodes_ = 0;
};

// What yaml-cpp would take in silence: it ends a text at its first NUL, and passes bytes on that
// are no UTF-8.
std::optional<YamlError> FindBadByte(std::string_view text) {
  YamlPlace place{1, 1};
  for (std::size_t i = 0; i < text.size();) {  // stops: each turn goes on by a character
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80 ? 1 : Utf8Length(text.substr(i));
    if (byte == 0) return YamlError{place, "a NUL byte: this is no text file"};
    if (length == 0) return YamlError{place, "a byte that is no UTF-8: save the file as UTF-8"};
    if (byte == '\n') {
      place = {place.line + 1, 1};
    } else {
      place.column += static_cast<int>(length);
    }
    i += length;
  }
  return std::nullopt;
}

}  // namespace

std::variant<YamlNode, YamlError> ParseYaml(std::string_view text) {
  if (const auto bad = FindBadByte(text)) return *bad;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    parser.HandleNextDocument(builder);
    YamlNode root = builder.Take();
    TreeBuilder rest;
    if (parser.HandleNextDocument(rest)) {
      return YamlError{rest.Take().place, "a second document: a file holds one"};
    }
    return root;
  } catch (const YAML::Exception& error) {
    return YamlError{PlaceOf(error.mark), error.msg};
  }
}

}  // namespace brim
