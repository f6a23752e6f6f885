#include <memory>
#include <utility>

#include <brim/store.h>

namespace brim {

void Store::RunBatch(std::span<const Request> requests, Micros timeout, BatchDone done) {
  const auto shared = std::make_shared<BatchDone>(std::move(done));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Run(requests[i], timeout, [shared, i](Result<Taken> taken) { (*shared)(i, std::move(taken)); });
  }
}

}  // namespace brim
