#include "redis/command.h"

#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace brim::redis {
namespace {

void AppendHeader(std::string& bytes, char type, std::size_t count) {
  bytes += type;
  bytes += Decimal(static_cast<std::int64_t>(count)).view();
  bytes += "\r\n";
}

}  // namespace

Command::Command(std::size_t arg_count, std::size_t bytes) : missing_(arg_count) {
  bytes_.reserve(bytes);
  AppendHeader(bytes_, '*', arg_count);
}

Command& Command::Arg(std::string_view arg) {
  BRIM_ASSERT(missing_ > 0);
  --missing_;
  AppendHeader(bytes_, '$', arg.size());
  bytes_ += arg;
  bytes_ += "\r\n";
  return *this;
}

Command& Command::Arg(std::int64_t number) { return Arg(Decimal(number).view()); }

std::string Command::Take() {
  BRIM_ASSERT(missing_ == 0);
  return std::move(bytes_);
}

}  // namespace brim::redis
