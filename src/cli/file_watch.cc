#include "cli/file_watch.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <sys/inotify.h>
#include <unistd.h>

#include "base/assert.h"

namespace brim::cli {
namespace {

// Not IN_CREATE or IN_MODIFY: the file is not whole yet.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO;
constexpr char kKubernetesLink[] = "..data";

}  // namespace

FileWatch::FileWatch() : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) { BRIM_ASSERT(fd_ >= 0); }

FileWatch::~FileWatch() { close(fd_); }

void FileWatch::Follow(const std::vector<std::string>& paths) {
  const auto before = names_;
  names_.clear();
  for (const std::string& text : paths) {
    const std::filesystem::path path(text);
    Add(path.parent_path().string(), path.filename().string());
    // Where a symlink leads, too: what it names may be replaced instead of the link.
    std::error_code error;
    const auto target = std::filesystem::canonical(path, error);
    if (!error) Add(target.parent_path().string(), target.filename().string());
  }
  for (const auto& [watch, names] : before) {
    if (!names_.contains(watch)) inotify_rm_watch(fd_, watch);
  }
}

void FileWatch::Add(const std::string& folder, const std::string& name) {
  const char* const where = folder.empty() ? "." : folder.c_str();
  const int watch = inotify_add_watch(fd_, where, kEvents);
  if (watch >= 0) names_[watch].insert({name, kKubernetesLink});
}

bool FileWatch::Changed() {
  bool changed = false;
  alignas(inotify_event) char buffer[4096];
  while (true) {  // stops: nothing is left to read
    const ssize_t size = read(fd_, buffer, sizeof(buffer));
    if (size <= 0) return changed;
    for (std::ptrdiff_t at = 0; at < size;) {  // stops: each turn goes on by an event
      const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<std::ptrdiff_t>(sizeof(inotify_event) + event->len);
      const auto names = names_.find(event->wd);
      const bool is_ours =
          names != names_.end() && event->len != 0 && names->second.contains(event->name);
      // Events that were lost may have been ours.
      changed = changed || is_ours || (event->mask & IN_Q_OVERFLOW) != 0;
    }
  }
}

}  // namespace brim::cli
