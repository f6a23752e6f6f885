// Any body: what is taken for a check is one that the limiter can be asked, and an error names a
// field and says what to do.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "base/limits.h"
#include "door/decision_api/check_body.h"

namespace brim::door {
namespace {

void CheckError(const Error& error) {
  BRIM_ASSERT(error.code == ErrorCode::kInvalid);
  BRIM_ASSERT(!error.message.empty());
  BRIM_ASSERT(error.field.size() <=
              limits::kMaxShownWordBytes + std::string_view("limits[000000].").size());
}

void CheckWhatWasRead(const CheckBody& body, const LimitItem*& next) {
  const CheckRequest& request = body.request;
  BRIM_ASSERT(!request.subject.empty() && request.cost >= 0 && request.limits.empty());
  BRIM_ASSERT(request.items.size() <= kMaxLines);
  if (!request.items.empty()) {
    BRIM_ASSERT(next == nullptr || request.items.data() == next);
    next = request.items.data() + request.items.size();
  }
  for (const LimitItem& item : request.items) {
    BRIM_ASSERT(item.cost.value_or(1) >= 1);
    BRIM_ASSERT(ParseLimit(FormatLimit(item.limit)).ok());
  }
}

}  // namespace
}  // namespace brim::door

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace brim::door;
  static CheckBodyReader reader;  // what one body leaves behind must not change the next
  const auto read = reader.Read({reinterpret_cast<const char*>(bytes), size});
  if (!read) {
    CheckError(read.error());
    BRIM_ASSERT(reader.checks().empty());
    return 0;
  }
  BRIM_ASSERT(reader.is_batch() || reader.checks().size() == 1);
  const brim::LimitItem* next = nullptr;
  for (const auto& check : reader.checks()) {
    if (check) {
      CheckWhatWasRead(*check, next);
    } else {
      CheckError(check.error());
    }
  }
  return 0;
}
