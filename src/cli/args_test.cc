#include "cli/args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brim::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Call Parse(std::vector<const char*> args, Environment environment = {}) {
  args.insert(args.begin(), "brim");
  return ParseArgs(static_cast<int>(args.size()), args.data(), std::move(environment));
}

Printed Print(std::vector<const char*> args) {
  const Call call = Parse(std::move(args));
  const auto* printed = std::get_if<Printed>(&call);
  return printed == nullptr ? Printed{"it would run", -1} : *printed;
}

SubjectCall Subject(std::vector<const char*> args) {
  const Call call = Parse(std::move(args));
  if (const auto* printed = std::get_if<Printed>(&call)) ADD_FAILURE() << printed->text;
  const auto* subject = std::get_if<SubjectCall>(&call);
  return subject == nullptr ? SubjectCall{} : *subject;
}

TEST(ArgsTest, AloneItPrintsItsCommands) {
  for (const Printed& printed : {Print({}), Print({"--help"}), Print({"-h"})}) {
    EXPECT_EQ(printed.exit_code, kOk);
    for (const char* command : {"demo", "serve", "check", "inspect", "reset", "check-config",
                                "config", "hash-key", "Examples:"}) {
      EXPECT_THAT(printed.text, HasSubstr(command));
    }
  }
  EXPECT_EQ(Print({"--version"}).exit_code, kOk);
  EXPECT_THAT(Print({"--version"}).text, testing::MatchesRegex("brim [0-9.]+\n"));
}

TEST(ArgsTest, EachCommandHelpsWithExamples) {
  for (const char* command : {"demo", "serve", "check", "inspect", "reset"}) {
    const Printed printed = Print({command, "--help"});
    EXPECT_EQ(printed.exit_code, kOk);
    EXPECT_THAT(printed.text, HasSubstr("Example"));
    EXPECT_THAT(printed.text, HasSubstr("--store"));
  }
}

TEST(ArgsTest, ServeTakesAddressesAndAStore) {
  const Call call = Parse({"serve", "--listen", "127.0.0.1:0", "--admin-listen", "unix:/a"},
                          {.store = "redis://h", .config = "b.yaml"});
  const auto* serve = std::get_if<ServeArgs>(&call);
  ASSERT_NE(serve, nullptr);
  EXPECT_EQ(serve->listen, "127.0.0.1:0");
  EXPECT_EQ(serve->gateway_listen, "");
  EXPECT_EQ(serve->admin_listen, "unix:/a");
  EXPECT_EQ(serve->store.url, "redis://h");
  EXPECT_EQ(serve->config, "b.yaml");
  const Call bare = Parse({"serve"});
  EXPECT_EQ(std::get<ServeArgs>(bare).store.url, "") << "the file may name a store";
}

TEST(ArgsTest, CheckTakesLimitsInAnyPlace) {
  const SubjectCall call =
      Subject({"check", "--limit", "5 per minute", "me", "--limit", "100/day", "--cost", "3",
               "--scope", "chat", "--json", "--algorithm", "fixed_window"});
  EXPECT_EQ(call.command, SubjectCommand::kCheck);
  EXPECT_EQ(call.args.subject, "me");
  EXPECT_THAT(call.args.limits, ElementsAre("5 per minute", "100/day"));
  EXPECT_EQ(call.args.cost, 3);
  EXPECT_EQ(call.args.scope, "chat");
  EXPECT_EQ(call.args.algorithm, Algorithm::kFixedWindow);
  EXPECT_TRUE(call.args.json);
}

TEST(ArgsTest, ASubjectMayBeAnything) {
  for (const char* subject : {"demo", "reset", "--json", "--", "-h", "a b", "[a,b]", "{}", "\"a\"",
                              "'a'", "a\\nb", "\xff", "", "--limit=x", "%%", "#x"}) {
    SCOPED_TRACE(subject);
    EXPECT_EQ(Subject({"check", "--limit", "5 per minute", "--", subject}).args.subject, subject);
  }
  EXPECT_EQ(Subject({"check", "demo", "--limit", "5 per minute"}).args.subject, "demo");
}

TEST(ArgsTest, InspectLooksAndResetForgets) {
  const SubjectCall inspect = Subject({"inspect", "me", "--limit", "5 per minute"});
  EXPECT_EQ(inspect.command, SubjectCommand::kInspect);
  EXPECT_EQ(inspect.args.cost, 0);
  const SubjectCall reset = Subject({"reset", "me", "--limit", "5 per minute"});
  EXPECT_EQ(reset.command, SubjectCommand::kReset);
  EXPECT_EQ(reset.args.cost, 1);
}

TEST(ArgsTest, TheStoreIsTheArgumentElseTheEnvironmentElseMemory) {
  const auto store = [](std::vector<const char*> args, const char* environment) {
    args.insert(args.begin(), {"demo"});
    return std::get<DemoArgs>(Parse(args, {.store = environment, .config = ""})).store;
  };
  EXPECT_EQ(store({}, "").url, "memory://");
  EXPECT_EQ(store({}, "redis://env").url, "redis://env");
  EXPECT_FALSE(store({}, "redis://env").from_command_line);
  EXPECT_EQ(store({"--store", "redis://arg"}, "redis://env").url, "redis://arg");
  EXPECT_TRUE(store({"--store", "redis://arg"}, "redis://env").from_command_line);
}

TEST(ArgsTest, BadUsageIsExitCode2AndSaysWhatToDo) {
  const std::vector<std::vector<const char*>> kCases = {
      {"chekc"},
      {"demo", "extra"},
      {"demo", "--shards", "0"},
      {"demo", "--store-timeout-ms", "0"},
      {"demo", "--algorithm", "leaky"},
      {"demo", "--listen"},
      {"check"},
      {"check", "me"},
      {"check", "me", "you", "--limit", "5 per minute"},
      {"check", "me", "--limit"},
      {"check", "me", "--limit", "5 per minute", "--cost", "x"},
      {"check", "me", "--limit", "5 per minute", "--cost", ""},  // not 0, which would peek
      {"check", "me", "--limit", "5 per minute", "--cost", "0x5"},
      {"check", "me", "--limit", "5 per minute", "--cost", "9223372036854775808"},
      {"check", "me", "--limit", "5 per minute", "--nonsense"},
      {"inspect", "me", "--limit", "5 per minute", "--cost", "1"},
      {"reset", "me", "--limit", "5 per minute", "--json"},
      {"--nonsense"}};
  for (const auto& args : kCases) {
    const Printed printed = Print(args);
    EXPECT_EQ(printed.exit_code, kBadUsage) << args.back();
    EXPECT_THAT(printed.text, HasSubstr("Run `brim")) << args.back();
  }
  EXPECT_THAT(Print({"chekc"}).text, HasSubstr("did you mean \"check\"?"));
}

TEST(ArgsTest, CheckConfigTakesAFile) {
  const Call call =
      Parse({"check-config", "brim.yaml", "--json"}, {.store = "", .config = "other.yaml"});
  const auto* config = std::get_if<ConfigCall>(&call);
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(config->command, ConfigCommand::kCheck);
  EXPECT_EQ(config->args.file, "brim.yaml");
  EXPECT_TRUE(config->args.json);
  EXPECT_EQ(Print({"check-config"}).exit_code, kBadUsage);
}

TEST(ArgsTest, ConfigShowTakesAFileOrTheEnvironmentsOrNone) {
  const auto file = [](const Call& call) {
    const auto* config = std::get_if<ConfigCall>(&call);
    return config != nullptr && config->command == ConfigCommand::kShow ? config->args.file : "no";
  };
  EXPECT_EQ(file(Parse({"config", "show", "a.yaml"}, {.store = "", .config = "b.yaml"})), "a.yaml");
  EXPECT_EQ(file(Parse({"config", "show"}, {.store = "", .config = "b.yaml"})), "b.yaml");
  EXPECT_EQ(file(Parse({"config", "show"})), "");
  EXPECT_EQ(Print({"config"}).exit_code, kOk);
  EXPECT_THAT(Print({"config"}).text, HasSubstr("show"));
  EXPECT_THAT(Print({"config", "show", "--help"}).text, HasSubstr("brim config show"));
  EXPECT_THAT(Print({"config", "show", "--nope"}).text, HasSubstr("brim config show: "));
}

}  // namespace
}  // namespace brim::cli
