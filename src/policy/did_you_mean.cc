#include "policy/did_you_mean.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace brim {
namespace {

constexpr std::size_t kMinBytes = 3;
constexpr std::size_t kFar = 3;

// Letters to insert, remove, replace, or swap with their neighbour (Damerau-Levenshtein distance,
// as optimal string alignment); kFar stands for three and more.
std::size_t Distance(std::string_view a, std::string_view b) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= kFar) return kFar;
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {  // least[i][j]: from a's first i to b's first j
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({replaced, least[i - 1][j] + 1, least[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return std::min(least[a.size()][b.size()], kFar);
}

}  // namespace

std::string_view DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() < kMinBytes) return {};
  std::string_view nearest;
  std::size_t least = word.size() <= 4 ? kFar - 1 : kFar;
  for (const std::string_view candidate : known) {
    if (candidate.size() < kMinBytes) continue;
    const std::size_t distance = candidate.starts_with(word) ? 1 : Distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace brim
