// Tells when files were replaced: written anew, renamed into place, or reached through another
// symlink, as Kubernetes swaps `..data` when a ConfigMap changes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace brim::cli {

// Watches the folders of the files, since a file that is renamed into place is another one.
// Thread-compatible.
class FileWatch {
 public:
  FileWatch();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // Watches these from now on, and those that were watched before no more. A folder that cannot be
  // watched is left out: then a signal still reloads.
  void Follow(const std::vector<std::string>& paths);

  // Readable when something happened in one of the folders.
  int fd() const { return fd_; }
  // Takes what happened; whether one of the files was meant.
  bool Changed();

 private:
  void Add(const std::string& folder, const std::string& name);

  int fd_;                                      // an inotify
  std::map<int, std::set<std::string>> names_;  // that matter in a folder, by its watch
};

}  // namespace brim::cli
