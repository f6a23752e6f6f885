// The body that answers a batch: one item a check, in the order of the checks, whatever the order
// in which their answers come.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include <brim/decision.h>
#include <brim/result.h>
#include "net/http.h"

namespace brim::door {

// Thread-safe.
class BatchAnswer {
 public:
  // The response must live until the last answer is there; it may be filled only here.
  // REQUIRES: checks > 0.
  BatchAnswer(std::size_t checks, net::HttpResponse& response);

  // The answer of one check, exactly once each. True: it was the last, and the response is
  // complete.
  bool Add(std::size_t check, const Decision& decision, int status);
  bool Add(std::size_t check, const Error& error);

 private:
  struct Part {
    std::size_t begin;
    std::size_t size;
  };

  template <typename Write>
  bool AddPart(std::size_t check, Write write);
  void Finish();

  std::mutex mu_;
  net::HttpResponse& response_;  // GUARDED_BY(mu_), as all below
  std::string text_;             // the items as they came, which is nearly always their order
  std::vector<Part> parts_;      // of text_; by check
  std::size_t added_ = 0;
  bool in_order_ = true;
};

}  // namespace brim::door
