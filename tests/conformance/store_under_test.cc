#include "conformance/store_under_test.h"

#include <map>
#include <sstream>
#include <string>

#include <brim/memory_store.h>
#include <brim/testing.h>
#include "conformance/virtual_time.h"
#include "store/redis_store.h"
#include "support/redis_server.h"

namespace brim::testing {
namespace {

constexpr std::string_view kClockKey = "brim-test";

class MemoryUnderTest final : public StoreUnderTest {
 public:
  Store& store() override { return store_; }
  void SetTime(Micros since_start) override {
    clock_.Advance(since_start - now_);
    now_ = since_start;
  }

 private:
  ManualClock clock_;
  MemoryStore store_{{.clock = &clock_}};
  Micros now_{0};
};

RedisServer& SharedServer(StoreKind kind) {
  static std::map<StoreKind, std::unique_ptr<RedisServer>> servers;
  auto& server = servers[kind];
  if (!server) {
    server = std::make_unique<RedisServer>(std::vector<std::string>{}, kind == StoreKind::kValkey
                                                                           ? ServerKind::kValkey
                                                                           : ServerKind::kRedis);
  }
  return *server;
}

// The prelude goes between the `#!lua` line and the rest.
std::string InVirtualTime(std::string_view script) {
  const std::size_t line_end = script.find('\n') + 1;
  return std::string(script.substr(0, line_end)) + std::string(kVirtualTimeLua) +
         std::string(script.substr(line_end));
}

class RedisUnderTest final : public StoreUnderTest {
 public:
  explicit RedisUnderTest(StoreKind kind)
      : server_(SharedServer(kind)),
        take_logs_(InVirtualTime(ShippedScripts().take_logs)),
        take_(InVirtualTime(ShippedScripts().take)),
        peek_(InVirtualTime(ShippedScripts().peek)),
        refund_(InVirtualTime(ShippedScripts().refund)) {
    server_.Command("FLUSHALL");
    SetTime(Micros{0});
    redis::ClientOptions client;
    client.endpoint.unix_path = server_.unix_path();
    store_ = std::make_unique<RedisStore>(RedisStoreOptions{
        .client = client,
        .scripts = {.take_logs = take_logs_, .take = take_, .peek = peek_, .refund = refund_},
        .max_refusal_age = Micros(0)});  // whose time is the real one
  }

  Store& store() override { return *store_; }

  void SetTime(Micros since_start) override {
    const WallTime now = start_ + since_start;
    server_.Command("HSET", kClockKey, "now", std::to_string(now.time_since_epoch().count()));
    DropDueKeys(now.time_since_epoch().count() / 1000);
  }

  void LoseTtls() override {
    for (const auto& [key, at_ms] : Ttls()) server_.Command("HDEL", kClockKey, "ttl:" + key);
  }

 private:
  // As the server does by itself: a key is gone once the time is past its end.
  void DropDueKeys(std::int64_t now_ms) {
    for (const auto& [key, at_ms] : Ttls()) {
      if (at_ms >= now_ms) continue;
      server_.Command("DEL", key);
      server_.Command("HDEL", kClockKey, "ttl:" + key);
    }
  }

  std::map<std::string, std::int64_t> Ttls() {
    std::istringstream fields(server_.Command("HGETALL", kClockKey));
    std::map<std::string, std::int64_t> ttls;
    std::string field;
    std::string value;
    while (std::getline(fields, field) && std::getline(fields, value)) {
      if (field.starts_with("ttl:")) ttls[field.substr(4)] = std::stoll(value);
    }
    return ttls;
  }

  RedisServer& server_;
  const std::string take_logs_;
  const std::string take_;
  const std::string peek_;
  const std::string refund_;
  const WallTime start_ = ManualClock().WallNow();  // as for the memory store
  std::unique_ptr<RedisStore> store_;
};

}  // namespace

std::unique_ptr<StoreUnderTest> MakeStoreUnderTest(StoreKind kind) {
  if (kind == StoreKind::kMemory) return std::make_unique<MemoryUnderTest>();
  return std::make_unique<RedisUnderTest>(kind);
}

}  // namespace brim::testing
