// What an error reply of the server means for a caller.
#pragma once

#include <string>
#include <string_view>

#include <brim/result.h>

namespace brim::redis {

// By the first word alone: the rest of the text differs between servers and versions.
//   OOM                                              -> kOutOfMemory
//   LOADING, BUSY, READONLY, MOVED, NOSCRIPT, ...    -> kUnavailable: surely not executed
//   NOAUTH, WRONGPASS, NOPERM, ERR and all others    -> kSetup
// The message is the server's text (bounded, control bytes escaped) and a remedy.
Error ReplyError(std::string_view error_text);

// Whether the server surely did not run the command, and may run it when asked again soon: LOADING,
// BUSY, TRYAGAIN, CLUSTERDOWN, MASTERDOWN.
bool MayRunSoon(std::string_view error_word);

// "WRONGPASS" of "WRONGPASS invalid username-password pair".
std::string_view ErrorWord(std::string_view error_text);

// For messages: at most `max_bytes` of it, control and non-ASCII bytes as \xNN.
std::string Printable(std::string_view text, std::size_t max_bytes = 200);

}  // namespace brim::redis
