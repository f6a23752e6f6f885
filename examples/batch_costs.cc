// A batch job whose items cost different amounts, such as tokens of a model. Each item is charged
// its estimate before it runs, and what it did not use is given back. Two limits hold at once: a
// bucket of 500 that refills slowly, and a log of costs that is exact over every hour.
#include <algorithm>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include <brim/brim.h>

namespace {

struct Document {
  std::string_view name;
  brim::Units estimate;
  brim::Units used;  // 0: it failed
};

void Process(brim::Limiter& limiter, const std::vector<brim::Limit>& limits, const Document& doc) {
  const brim::CheckRequest request{.subject = "batch", .limits = limits, .cost = doc.estimate};
  brim::Receipt receipt;
  const brim::Decision decision = limiter.Check(request, receipt);
  std::cout << doc.name << ": ";
  if (!decision.allowed()) {
    const auto seconds = brim::RetryAfterSeconds(decision.retry_after);
    if (seconds) std::cout << "does not fit yet, in " << *seconds << " s\n";
    if (!seconds) std::cout << "can never fit\n";
  } else if (doc.used == 0) {
    // The receipt finds exactly what this check charged.
    const brim::Decision after = limiter.Refund(request, std::move(receipt));
    std::cout << "failed, all given back, " << after.remaining << " left\n";
  } else {
    // A part is given back without a receipt: the oldest units first, so that no window ever holds
    // more than its limit.
    const brim::Units unused = doc.estimate - doc.used;
    const brim::Decision after =
        unused == 0 ? decision
                    : limiter.Refund({.subject = "batch", .limits = limits, .cost = unused});
    std::cout << doc.estimate << " taken, " << doc.used << " used, " << after.remaining
              << " left\n";
  }
}

}  // namespace

int main() {
  brim::MemoryStore store;
  brim::Limiter limiter(store);
  const auto limits =
      brim::ParseLimits("1000 per day burst 500 token_bucket; 2000 per hour weighted").value();
  const Document documents[] = {
      {"report", 300, 220}, {"letter", 150, 0}, {"thesis", 400, 390}, {"library", 900, 900}};
  for (const Document& document : documents) Process(limiter, limits, document);

  // Many checks at once cost a fraction of single ones. Each is atomic, all are in order.
  const std::vector<brim::CheckRequest> pages(6,
                                              {.subject = "batch", .limits = limits, .cost = 50});
  std::vector<brim::Decision> decisions(pages.size());
  limiter.CheckBatch(pages, decisions);
  const auto fitted = std::count_if(decisions.begin(), decisions.end(),
                                    [](const brim::Decision& d) { return d.allowed(); });
  std::cout << "batch: " << fitted << " of " << pages.size() << " pages\n";
}
