#include "cli/args.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>

#include <brim/version.h>
#include "policy/did_you_mean.h"

namespace brim::cli {
namespace {

constexpr std::array<std::string_view, 10> kCommands = {
    "check",    "check-config", "config", "demo",  "doctor",
    "hash-key", "inspect",      "reload", "reset", "serve"};

constexpr std::string_view kMemory = "memory://";

constexpr char kExamples[] = R"(Examples:
  brim demo
  brim demo --store redis://127.0.0.1:6379/0 --algorithm fixed_window
  brim serve --store redis://127.0.0.1:6379/0
  brim check user_8421 --limit "5 per minute" --limit "100 per day"
  brim inspect user_8421 --limit "5 per minute" --store redis://127.0.0.1:6379/0
  brim reset user_8421 --limit "5 per minute" --store redis://127.0.0.1:6379/0
  brim check-config brim.yaml
  brim config show
  brim hash-key keys.yaml --subject alice --tier pro < key >> keys.yaml

BRIM_STORE gives the store when --store does not; RATE_LIMIT_DISABLED=true switches limiting off.
`brim COMMAND --help` tells more.)";

constexpr char kDoctorExamples[] =
    R"(Writes nothing. Exit code: 0 all is well, 1 there are findings, 2 bad usage, 3 the store cannot be asked.

Examples:
  brim doctor --store redis://127.0.0.1:6379/0
  brim doctor --store redis+cluster://10.0.0.1,10.0.0.2 --json)";

constexpr char kDemoExamples[] =
    R"(GET /api/search?q=... is limited to 5 per minute for each X-Client-Id (else for each address).
An address is host:port, [v6]:port or unix:/path; port 0 takes a free one.

Examples:
  brim demo
  brim demo --listen 127.0.0.1:0 --admin-listen 127.0.0.1:9090
  brim demo --store redis://127.0.0.1:6379/0 --algorithm fixed_window)";

constexpr char kServeExamples[] =
    R"(Services ask POST /v1/check, gateways ask /v1/auth. The admin pages are /healthz, /readyz and
/metrics. What stands here goes before what the file says. An address is host:port, [v6]:port or
unix:/path; port 0 takes a free one.

Examples:
  brim serve
  brim serve --config brim.yaml
  brim serve --listen unix:/run/brim/api.sock --store redis://127.0.0.1:6379/0
  curl -i --json '{"subject": "user_8421", "limits": ["5 per minute"]}' 127.0.0.1:8080/v1/check)";

constexpr char kCheckExamples[] =
    R"(Exit code: 0 allowed, 1 limited, 2 bad usage, 3 the store gave no answer.
With --cost 0 nothing is charged: 0 if one unit would fit, else 1.

Examples:
  brim check user_8421 --limit "5 per minute" --store redis://127.0.0.1:6379/0
  brim check user_8421 --limit "60 per minute" --limit "5000 per day" --cost 3 --json
  brim check --limit "100/day fixed_window" -- -a-subject-with-a-dash)";

constexpr char kInspectExamples[] =
    R"(Charges nothing. Exit code: 0, 2 bad usage, 3 the store gave no answer.

Examples:
  brim inspect user_8421 --limit "5 per minute" --store redis://127.0.0.1:6379/0
  brim inspect 192.0.2.7 --scope search --limit "5 per minute" --json)";

constexpr char kResetExamples[] =
    R"(Forgets what these limits counted for the subject, and nothing else.
Exit code: 0, 2 bad usage, 3 the store gave no answer.

Example:
  brim reset user_8421 --limit "5 per minute" --limit "100 per day" --store redis://127.0.0.1:6379/0)";

constexpr char kCheckConfigExamples[] =
    R"(Exit code: 0 the file can be served, 2 it cannot; stderr tells each mistake with its place.

Examples:
  brim check-config brim.yaml
  brim check-config brim.yaml --json)";

constexpr char kConfigShowExamples[] =
    R"(Prints the file with what it leaves to the defaults; passwords are masked. Without a file, and without
BRIM_CONFIG: the defaults. Exit code: 0, 2 the file cannot be served.

Examples:
  brim config show
  brim config show brim.yaml)";

constexpr char kReloadExamples[] =
    R"(A brim that serves a file reads it anew by itself when it changes, and at a SIGHUP; this asks for it and
tells what came of it. Exit code: 0, 2 refused (the old configuration holds on) or not reached.

Examples:
  brim reload --config brim.yaml
  brim reload --admin 127.0.0.1:9090 --token-file /run/brim/token)";

constexpr char kHashKeyExamples[] =
    R"(Reads the key from standard input, since others can read a command line, and prints its line for the
table; of a table that is new, its secret too. Exit code: 0, 2 bad usage.

Examples:
  umask 077; openssl rand -hex 24 > alice.key
  brim hash-key keys.yaml --subject alice --tier pro < alice.key >> keys.yaml)";

void AddStore(CLI::App* command, StoreArgs& store) {
  command
      ->add_option("--store", store.url,
                   "memory://, redis[s]://[user:password@]host:port/db, unix:///path?db=N, "
                   "redis[s]+sentinel://host,host/name or redis[s]+cluster://host,host")
      ->default_str("$BRIM_STORE, else memory://");
}

constexpr char kAlgorithms[] =
    "sliding_window, fixed_window, token_bucket or sliding_window_counter";

void AddAlgorithm(CLI::App* command, Algorithm& algorithm) {
  command
      ->add_option_function<std::string>(
          "--algorithm",
          [&algorithm](const std::string& name) { algorithm = *ParseAlgorithm(name); },
          std::string("Of limits that name none: ") + kAlgorithms)
      ->default_str(std::string(AlgorithmName(algorithm)))
      ->check([](const std::string& name) {
        return ParseAlgorithm(name) ? std::string() : std::string("give ") + kAlgorithms;
      });
}

// Decimal digits. CLI11 by itself reads "" as 0, which would peek, "010" as 8, 2^63 as 2^63 - 1.
std::optional<Units> ParseCost(const std::string& text) {
  Units cost = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cost);
  if (error != std::errc() || stop != end) return std::nullopt;
  return cost;
}

void AddCost(CLI::App* command, Units& cost) {
  command
      ->add_option_function<std::string>(
          "--cost", [&cost](const std::string& text) { cost = *ParseCost(text); },
          "Units to take; 0 only looks")
      ->default_str(std::to_string(cost))
      ->check([](const std::string& text) {
        return ParseCost(text) ? std::string() : std::string("give a whole number below 2^63");
      });
}

CLI::App* AddCheckConfig(CLI::App& app, ConfigArgs& args) {
  CLI::App* command = app.add_subcommand("check-config", "Check a configuration file");
  command->footer(kCheckConfigExamples);
  command->add_option("file", args.file, "The file, like brim.yaml")->required();
  command->add_flag("--json", args.json, "Print what is wrong as JSON");
  return command;
}

// The command behind which `show` stands.
CLI::App* AddConfig(CLI::App& app, ConfigArgs& args) {
  CLI::App* config = app.add_subcommand("config", "Look at the configuration");
  config->footer("`brim config show --help` tells more.");
  config->require_subcommand(0, 1);
  CLI::App* show = config->add_subcommand("show", "Print the whole configuration in force");
  show->footer(kConfigShowExamples);
  show->add_option("file", args.file, "The file, like brim.yaml")
      ->default_str("$BRIM_CONFIG, else the defaults");
  return config;
}

CLI::App* AddReload(CLI::App& app, ReloadArgs& args) {
  CLI::App* command = app.add_subcommand("reload", "Have a running brim read its file anew");
  command->footer(kReloadExamples);
  command->add_option("--config", args.config, "Its configuration: says where to ask, and how")
      ->default_str("$BRIM_CONFIG");
  command->add_option("--admin", args.admin, "The address of its admin listener")
      ->default_str("as configured, else 127.0.0.1:9090");
  command->add_option("--token-file", args.token_file, "The file with the admin listener's token")
      ->default_str("as configured");
  return command;
}

CLI::App* AddHashKey(CLI::App& app, HashKeyArgs& args) {
  CLI::App* command =
      app.add_subcommand("hash-key", "Make the entry of an API key for a key table");
  command->footer(kHashKeyExamples);
  command->add_option("table", args.table, "The file with the table, like keys.yaml")->required();
  command->add_option("--subject", args.subject, "Who holds the key")->required();
  command->add_option("--tier", args.tier, "The tier of the key")->default_str("the default one");
  return command;
}

CLI::App* AddSubjectCommand(CLI::App& app, const std::string& name, const std::string& about,
                            const char* examples, SubjectArgs& args) {
  CLI::App* command = app.add_subcommand(name, about);
  command->footer(examples);
  command->add_option("subject", args.subject, "Who: a user, key or address")->required();
  command
      ->add_option("--limit", args.limits, "\"5 per minute\", \"100/day fixed_window\"; repeatable")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--scope", args.scope, "What: keeps counters of one subject apart");
  AddAlgorithm(command, args.algorithm);
  AddStore(command, args.store);
  return command;
}

std::string Version() { return "brim " BRIM_VERSION "\n"; }

// The word that stands where a command should, if it is none.
std::optional<std::string_view> UnknownCommand(int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  if (std::find(kCommands.begin(), kCommands.end(), argv[1]) != kCommands.end())
    return std::nullopt;
  return argv[1];
}

Printed RefuseCommand(std::string_view word) {
  std::string text = "brim: there is no command \"" + std::string(word.substr(0, 40)) + "\"";
  if (const std::string_view meant = DidYouMean(word, kCommands); !meant.empty()) {
    text += "; did you mean \"" + std::string(meant) + "\"?";
  }
  return {text + "\nRun `brim` for the list.\n", kBadUsage};
}

// "brim config" of "brim config show".
std::string ParentOf(const std::string& command) { return command.substr(0, command.rfind(' ')); }

// The innermost command that was named: `show` of `config show`; null if there is none.
CLI::App* ChosenIn(CLI::App& app, std::string& name) {
  CLI::App* chosen = nullptr;
  for (CLI::App* next = &app; next != nullptr;) {  // stops: at a command without a command
    const auto inner = next->get_subcommands();
    next = inner.empty() ? nullptr : inner.front();
    if (next == nullptr) break;
    chosen = next;
    name += " " + chosen->get_name();
  }
  return chosen;
}

// `otherwise` is for when neither the command line nor the environment names one.
void TakeStore(StoreArgs& store, std::string of_environment, std::string_view otherwise) {
  store.from_command_line = !store.url.empty();
  if (store.from_command_line) return;
  store.url = of_environment.empty() ? otherwise : std::move(of_environment);
}

}  // namespace

Call ParseArgs(int argc, const char* const* argv, Environment environment) {
  if (const auto word = UnknownCommand(argc, argv)) return RefuseCommand(*word);
  CLI::App app("An exact rate limiter for every API, shared by all replicas.", "brim");
  app.footer(kExamples);
  app.require_subcommand(0, 1);  // at most one: a subject may be called like a command
  app.set_version_flag("--version", Version());

  DemoArgs demo;
  CLI::App* demo_command = app.add_subcommand("demo", "Serve a small API that is limited, to try");
  demo_command->footer(kDemoExamples);
  demo_command->add_option("--listen", demo.listen, "Where to serve")->capture_default_str();
  demo_command->add_option("--admin-listen", demo.admin_listen,
                           "Where to serve /healthz, /readyz and /metrics; nowhere if not given");
  demo_command->add_option("--shards", demo.shards, "Event loops; one a core if not given")
      ->check(CLI::Range(1, 1024));
  demo_command
      ->add_option("--store-timeout-ms", demo.store_timeout_ms,
                   "How long a request waits for the store; then the embedded one decides")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  AddAlgorithm(demo_command, demo.algorithm);
  AddStore(demo_command, demo.store);

  ServeArgs serve;
  CLI::App* serve_command =
      app.add_subcommand("serve", "Answer the checks of services and gateways");
  serve_command->footer(kServeExamples);
  serve_command->add_option("--config", serve.config, "The configuration file")
      ->default_str("$BRIM_CONFIG, else none");
  serve_command->add_option("--listen", serve.listen, "Where to serve the decision API")
      ->default_str("127.0.0.1:8080");
  serve_command->add_option("--gateway-listen", serve.gateway_listen,
                            "Where to serve the gateway's routes");
  serve_command->add_option("--admin-listen", serve.admin_listen, "Where to serve the admin pages")
      ->default_str("127.0.0.1:9090");
  serve_command->add_option("--shards", serve.shards, "Event loops; one a core if not given")
      ->check(CLI::Range(1, 1024));
  AddStore(serve_command, serve.store);

  SubjectArgs subject;
  CLI::App* check = AddSubjectCommand(app, "check", "Ask whether a subject may, and charge it",
                                      kCheckExamples, subject);
  AddCost(check, subject.cost);
  CLI::App* inspect =
      AddSubjectCommand(app, "inspect", "Show what a subject has left", kInspectExamples, subject);
  for (CLI::App* command : {check, inspect}) {
    command->add_flag("--json", subject.json, "Print the decision as JSON");
  }
  AddSubjectCommand(app, "reset", "Forget what a subject used", kResetExamples, subject);
  DoctorArgs doctor;
  CLI::App* doctor_command =
      app.add_subcommand("doctor", "Tell whether a store is set up well, and what to mend");
  doctor_command->footer(kDoctorExamples);
  doctor_command->add_flag("--json", doctor.json, "Print the report as JSON");
  AddStore(doctor_command, doctor.store);
  ConfigArgs config;
  const CLI::App* check_config = AddCheckConfig(app, config);
  const CLI::App* config_command = AddConfig(app, config);
  HashKeyArgs hash_key;
  const CLI::App* hash_key_command = AddHashKey(app, hash_key);
  ReloadArgs reload;
  const CLI::App* reload_command = AddReload(app, reload);

  std::string command = "brim";
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    CLI::App* const chosen = ChosenIn(app, command);
    return Printed{chosen == nullptr ? app.help() : chosen->help(ParentOf(command)), kOk};
  } catch (const CLI::CallForVersion&) {
    return Printed{Version(), kOk};
  } catch (const CLI::Error& error) {
    ChosenIn(app, command);
    return Printed{
        command + ": " + error.what() + "\nRun `" + command + " --help` for what it takes.\n",
        kBadUsage};
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return Printed{app.help(), kOk};
  if (chosen.front() == hash_key_command) return hash_key;
  if (chosen.front() == reload_command) {
    if (reload.config.empty()) reload.config = std::move(environment.config);
    return reload;
  }
  if (chosen.front() == check_config) return ConfigCall{ConfigCommand::kCheck, config};
  if (chosen.front() == config_command) {
    if (ChosenIn(app, command) == config_command) {
      return Printed{config_command->help("brim"), kOk};
    }
    if (config.file.empty()) config.file = std::move(environment.config);
    return ConfigCall{ConfigCommand::kShow, config};
  }
  if (chosen.front() == demo_command) {
    TakeStore(demo.store, std::move(environment.store), kMemory);
    return demo;
  }
  if (chosen.front() == serve_command) {
    if (serve.config.empty()) serve.config = std::move(environment.config);
    TakeStore(serve.store, std::move(environment.store), "");  // the file may name one
    return serve;
  }
  if (chosen.front() == doctor_command) {
    TakeStore(doctor.store, std::move(environment.store), kMemory);
    return doctor;
  }
  TakeStore(subject.store, std::move(environment.store), kMemory);
  if (chosen.front() != inspect) {
    return SubjectCall{chosen.front() == check ? SubjectCommand::kCheck : SubjectCommand::kReset,
                       subject};
  }
  subject.cost = 0;
  return SubjectCall{SubjectCommand::kInspect, subject};
}

}  // namespace brim::cli
