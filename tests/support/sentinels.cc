#include "support/sentinels.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace brim::testing {
namespace {

void Await(const char* what, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "FAILED: %s within 30 s\n", what);
      std::fflush(nullptr);
      std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

SentinelTrio::SentinelTrio(const std::string& sentinel_password) : password_(sentinel_password) {
  dir_ = (std::filesystem::temp_directory_path() / "brim-sentinel-XXXXXX").string();
  if (mkdtemp(dir_.data()) == nullptr) std::_Exit(1);
  const std::vector<std::string> at_once = {"--repl-diskless-sync-delay", "0"};
  primary_ = std::make_unique<RedisServer>(at_once);
  const std::string port = std::to_string(primary_->port());
  std::vector<std::string> args = at_once;
  args.insert(args.end(), {"--replicaof", "127.0.0.1 " + port});
  replica_ = std::make_unique<RedisServer>(args);
  Await("the replica follows",
        [this] { return replica_->Info("replication", "master_link_status") == "up"; });
  for (int i = 0; i < 3; ++i) {
    const std::string file = dir_ + "/" + std::to_string(i) + ".conf";
    std::ofstream config(file);
    config << "sentinel monitor " << kMaster << " 127.0.0.1 " << port << " 2\n"
           << "sentinel down-after-milliseconds " << kMaster << " 300\n"
           << "sentinel failover-timeout " << kMaster << " 3000\n";
    if (!password_.empty()) {
      config << "requirepass " << password_ << "\nsentinel sentinel-pass " << password_ << "\n";
    }
    config.close();
    sentinels_.push_back(
        std::make_unique<RedisServer>(std::vector<std::string>{file, "--sentinel"}));
  }
  Await("the sentinels know each other", [this] {
    for (auto& sentinel : sentinels_) {
      if (!password_.empty()) sentinel->Command("AUTH", password_);
      const std::string known = "\n" + sentinel->Command("SENTINEL", "MASTER", kMaster) + "\n";
      if (known.find("\nnum-other-sentinels\n2\n") == std::string::npos ||
          known.find("\nnum-slaves\n1\n") == std::string::npos) {
        return false;
      }
    }
    return true;
  });
}

SentinelTrio::~SentinelTrio() {
  sentinels_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::string SentinelTrio::url() const {
  std::string url = "redis+sentinel://";
  for (const auto& sentinel : sentinels_) {
    url += "127.0.0.1:" + std::to_string(sentinel->port()) + ",";
  }
  url.back() = '/';
  url += kMaster;
  return password_.empty() ? url : url + "?sentinel_password=" + password_;
}

}  // namespace brim::testing
