// A real redis-server or valkey-server for one test, on a free port and a unix socket, with nothing
// kept on disk. It ends with the object, and with the test program if that is killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace brim::testing {

class RespSocket;

// kRedis: `redis-server` of the PATH. kValkey: the program that BRIM_VALKEY_SERVER names.
enum class ServerKind { kRedis, kValkey };

// If the program is missing or does not start, the test program ends, and fails, with the reason.
// Blocking, thread-compatible; make it on the main thread.
class RedisServer {
 public:
  // `args` come last and so override ours: {"--maxmemory", "2mb"}; or first, if they begin with a
  // configuration file.
  explicit RedisServer(std::vector<std::string> args = {}, ServerKind kind = ServerKind::kRedis);
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::uint16_t port() const { return port_; }
  const std::string& unix_path() const { return unix_path_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return pid_; }

  // Asks the server directly, on one connection that is kept: "PONG", "17", "(nil)", an error as
  // "-ERR ...", the items of an array each on a line; "(no answer)" after 5 s or if it is down.
  template <typename... Args>
  std::string Command(const Args&... args) {
    return Ask({std::string_view(args)...});
  }
  // A field of INFO: Info("stats", "total_connections_received").
  std::string Info(std::string_view section, std::string_view field);

  void Pause();   // SIGSTOP: it accepts connections and answers nothing
  void Resume();  // SIGCONT
  void Kill();    // SIGKILL: connections are reset, new ones refused
  void Start();   // after Kill: on the same port and socket, with no data; returns when it answers
  void StartLoading();  // the same with what SAVE kept; returns when it reads that, or is done
  void Restart() {
    Kill();
    Start();
  }

  // A port that was free a moment ago.
  static std::uint16_t FreePort();

 private:
  std::string Ask(const std::vector<std::string_view>& args);
  void Spawn();
  bool WaitUntilItAnswers(bool loading_is_fine = false);

  const std::string program_;
  const std::vector<std::string> args_;
  const std::filesystem::path dir_;
  const std::string unix_path_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
  std::unique_ptr<RespSocket> socket_;
};

}  // namespace brim::testing
