#include "door/decision_api/batch_answer.h"

#include <string_view>
#include <utility>

#include "door/http_answer.h"

namespace brim::door {
namespace {

constexpr std::size_t kUsualItemBytes = 512;  // of a check of two limits
constexpr std::string_view kBetween = ", ";

}  // namespace

BatchAnswer::BatchAnswer(std::size_t checks, net::HttpResponse& response)
    : response_(response), parts_(checks) {
  text_.reserve(checks * kUsualItemBytes);
  text_ += '[';
}

bool BatchAnswer::Add(std::size_t check, const Decision& decision, int status) {
  return AddPart(check, [&] { AppendDecisionBody(decision, text_, status); });
}

bool BatchAnswer::Add(std::size_t check, const Error& error) {
  return AddPart(check, [&] { AppendErrorBody(error.message, error.field, text_, 400); });
}

template <typename Write>
bool BatchAnswer::AddPart(std::size_t check, Write write) {
  const std::lock_guard lock(mu_);
  if (added_ != 0) text_ += kBetween;
  const std::size_t begin = text_.size();
  write();
  parts_[check] = {begin, text_.size() - begin};
  in_order_ = in_order_ && check == added_;
  if (++added_ < parts_.size()) return false;
  Finish();
  return true;
}

void BatchAnswer::Finish() {
  response_.status = 200;
  response_.AddHeader("Content-Type", "application/json");
  text_ += ']';
  if (in_order_) {
    response_.body = std::move(text_);
    return;
  }
  std::string& body = response_.body;
  body.reserve(text_.size());
  for (const Part& part : parts_) {
    body += body.empty() ? "[" : kBetween;
    body.append(text_, part.begin, part.size);
  }
  body += ']';
}

}  // namespace brim::door
