// The commands of the program, each in its own file: arguments in, exit code out. args.h reads the
// command line into these structs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <brim/limit.h>

namespace brim::cli {

enum ExitCode : int {
  kOk = 0,        // allowed
  kLimited = 1,   // or a peek that would not fit
  kBadUsage = 2,  // the message says what to write instead
  kStoreFailed = 3,
};

// Where a store URL came from decides whether a password in it deserves a warning.
struct StoreArgs {
  std::string url;
  bool from_command_line = false;
};

// brim check | inspect | reset SUBJECT
struct SubjectArgs {
  std::string subject;
  std::string scope;
  std::vector<std::string> limits;
  Algorithm algorithm = Algorithm::kSlidingWindow;  // of limits that name none
  Units cost = 1;
  bool json = false;
  StoreArgs store;
};

struct DemoArgs {
  std::string listen = "127.0.0.1:8080";
  std::string admin_listen;  // empty: no admin listener
  Algorithm algorithm = Algorithm::kSlidingWindow;
  std::size_t shards = 0;  // 0: one a core
  std::int64_t store_timeout_ms = 50;
  StoreArgs store;
};

// brim check-config FILE | brim config show [FILE]
struct ConfigArgs {
  std::string file;  // of `config show`; empty: none, what holds without one
  bool json = false;
};

// What is empty is as the configuration has it.
struct ServeArgs {
  std::string config;  // the file; empty: none
  std::string listen;
  std::string gateway_listen;
  std::string admin_listen;
  std::size_t shards = 0;  // 0: one a core
  StoreArgs store;
};

// brim hash-key TABLE
struct HashKeyArgs {
  std::string table;  // a file; it may be absent or empty: then its head is printed too
  std::string subject;
  std::string tier;  // empty: the default one
};

// brim doctor
struct DoctorArgs {
  StoreArgs store;
  bool json = false;
};

// brim reload
struct ReloadArgs {
  std::string config;      // says where the admin listener is and which token it takes; or empty
  std::string admin;       // its address; empty: as the configuration has it
  std::string token_file;  // likewise
};

int RunCheck(const SubjectArgs& args);
int RunInspect(const SubjectArgs& args);
int RunReset(const SubjectArgs& args);
int RunDemo(const DemoArgs& args);
int RunDoctor(const DoctorArgs& args);
int RunCheckConfig(const ConfigArgs& args);
int RunConfigShow(const ConfigArgs& args);
int RunServe(const ServeArgs& args);
int RunHashKey(const HashKeyArgs& args);
int RunReload(const ReloadArgs& args);

}  // namespace brim::cli
