#include "redis/reply_error.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace brim::redis {
namespace {

struct Meaning {
  std::string_view word;
  ErrorCode code;
  std::string_view remedy;
};

using enum ErrorCode;

// CROSSSLOT, WRONGTYPE, ERR and words that nobody knows yet are all kSetup: a repetition would get
// the same answer.
constexpr Meaning kMeanings[] = {
    {"OOM", kOutOfMemory, "raise maxmemory, or give brim a server of its own"},
    {"LOADING", kUnavailable, "the server is reading its data; wait"},
    {"BUSY", kUnavailable, "a script of somebody runs too long; see SCRIPT KILL"},
    {"MASTERDOWN", kUnavailable, "this replica has lost its primary"},
    {"CLUSTERDOWN", kUnavailable, "the cluster has slots that nobody serves; see CLUSTER INFO"},
    {"TRYAGAIN", kUnavailable, "a slot is being moved; wait"},
    {"READONLY", kUnavailable, "this is a replica; give the address of the primary"},
    {"MISCONF", kUnavailable, "the server cannot save its data; see its log"},
    {"NOREPLICAS", kUnavailable, "too few replicas are connected; see min-replicas-to-write"},
    {"MOVED", kUnavailable, "this is a cluster; give a redis+cluster URL"},
    {"ASK", kUnavailable, "this is a cluster; give a redis+cluster URL"},
    {"NOSCRIPT", kUnavailable, "the server lost the script again and again; who flushes it?"},
    {"NOAUTH", kSetup, "give user and password of the server"},
    {"WRONGPASS", kSetup, "check user and password of the server"},
    {"NOPERM", kSetup, "grant the ACL user what the message names"},
    {"DENIED", kSetup, "the server is in protected mode: set a password or bind an address"},
    {"WRONGTYPE", kSetup, "another program uses this key; set another key prefix"},
};
constexpr std::string_view kOtherRemedy = "check that this is a Redis 7.0 or newer, or a Valkey";

}  // namespace

std::string_view ErrorWord(std::string_view error_text) {
  return error_text.substr(0, error_text.find(' '));
}

bool MayRunSoon(std::string_view error_word) {
  return error_word == "LOADING" || error_word == "BUSY" || error_word == "TRYAGAIN" ||
         error_word == "CLUSTERDOWN" || error_word == "MASTERDOWN";
}

std::string Printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      AppendHex(byte, out);
    }
  }
  if (text.size() > max_bytes) out += "...";
  return out;
}

Error ReplyError(std::string_view error_text) {
  const auto* known = std::ranges::find(kMeanings, ErrorWord(error_text), &Meaning::word);
  const bool found = known != std::end(kMeanings);
  std::string message = "the server answered: " + Printable(error_text) + "; ";
  message += found ? known->remedy : kOtherRemedy;
  return {found ? known->code : kSetup, std::move(message), {}};
}

}  // namespace brim::redis
