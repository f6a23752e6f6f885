// The hint in "unknown word": which known word was probably meant.
#pragma once

#include <span>
#include <string_view>

namespace brim {

// The known word nearest to `word` by Damerau-Levenshtein distance, or "" if none is near enough to
// be more help than noise: at most two slips away (one in a word of up to four letters), or `word`
// is its beginning. Words under three letters are neither corrected nor proposed. REQUIRES:
// lower-case words. For error paths.
std::string_view DidYouMean(std::string_view word, std::span<const std::string_view> known);

}  // namespace brim
