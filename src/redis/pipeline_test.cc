#include "redis/pipeline.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "redis/command.h"

namespace brim::redis {
namespace {

using namespace std::chrono_literals;
using enum ErrorCode;

using Strings = std::vector<std::string>;

const Script kScript("return 1");
const Script kOther("return 2");
constexpr std::string_view kNoScript = "-NOSCRIPT No matching script.\r\n";

std::string NameOf(ErrorCode code) {
  constexpr const char* kNames[] = {"invalid", "unavailable", "unknown", "oom", "setup"};
  return kNames[static_cast<int>(code)];
}

// A pipeline, the time, and what became of each command: "a=ok", "b=unknown", in order.
class PipelineTest : public testing::Test {
 protected:
  static PipelineOptions Options() {
    return {.peer = "redis at test", .client_name = "brim", .setup_timeout = 1s};
  }

  Pipeline::Done Note(std::string name) {
    return [this, name = std::move(name)](Result<Reply> reply) {
      ends_.push_back(name + "=" + (reply ? Text(*reply) : NameOf(reply.error().code)));
      if (!reply) message_ = reply.error().message;
    };
  }
  static std::string Text(const Reply& reply) {
    return reply.type() == ReplyType::kInteger ? std::to_string(reply.integer())
                                               : std::string(reply.text());
  }
  // The command is its own name, so that what is written is easy to read.
  void Run(const std::string& name, Micros timeout = 50ms) {
    pipeline_.Run(name + " ", now_ + timeout, Note(name));
  }
  void Eval(const std::string& name, Micros timeout = 50ms, const Script& script = kScript) {
    pipeline_.Eval(script, name + " ", now_ + timeout, Note(name));
  }

  // What leaves now; the system takes all of it.
  std::string Write() {
    std::string out;
    pipeline_.Collect(now_, out);
    pipeline_.Written(out.size());
    return out;
  }
  Result<void> Receive(std::string_view bytes) {
    bytes.copy(pipeline_.ReadBuffer().data(), bytes.size());
    auto result = pipeline_.Received(bytes.size(), now_);
    if (!result) pipeline_.Lost(result.error());
    return result;
  }
  bool Tick(Micros step) {
    now_ += step;
    const auto in_time = pipeline_.Tick(now_);
    if (!in_time) pipeline_.Lost(in_time.error());
    return in_time.ok();
  }
  void Lose() { pipeline_.Lost({kUnavailable, "connection lost", ""}); }
  void Connect() {
    pipeline_.Connecting(now_);
    pipeline_.Connected();
    Write();
    EXPECT_TRUE(Receive("+OK\r\n").ok());
    EXPECT_TRUE(pipeline_.ready());
  }
  // What ended since the last call.
  std::vector<std::string> Ends() {
    pipeline_.CompleteFailed();
    return std::exchange(ends_, {});
  }

  Instant now_ = Instant(1h);
  Pipeline pipeline_{Options()};
  std::vector<std::string> ends_;
  std::string message_;
};

std::string LoadCommand(const Script& script) {
  return Command(3).Arg("SCRIPT").Arg("LOAD").Arg(script.text()).Take();
}

TEST_F(PipelineTest, CommandsLeaveTogetherAndRepliesComeInOrder) {
  Connect();
  Run("a");
  Run("b");
  EXPECT_EQ(Write(), "a b ");
  Run("c");
  EXPECT_EQ(Write(), "c ");
  EXPECT_TRUE(Receive(":1\r\n:2\r\n:").ok());
  EXPECT_EQ(Ends(), (Strings{"a=1", "b=2"}));
  EXPECT_TRUE(Receive("3\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"c=3"});
  EXPECT_EQ(pipeline_.stats().commands, 3u);
}

TEST_F(PipelineTest, AnErrorReplyIsAnErrorOfItsCommandAlone) {
  Connect();
  Run("a");
  Run("b");
  Write();
  EXPECT_TRUE(Receive("-OOM command not allowed\r\n+OK\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"a=oom", "b=OK"}));
}

TEST_F(PipelineTest, SignsInBeforeAnythingElseLeaves) {
  PipelineOptions options = Options();
  options.user = "limiter";
  options.password = "secret";
  options.db = 2;
  Pipeline pipeline(options);
  std::string out;
  pipeline.Run("a ", now_ + 50ms, Note("a"));
  pipeline.Connecting(now_);
  pipeline.Collect(now_, out);
  EXPECT_EQ(out, "");
  pipeline.Connected();
  pipeline.Collect(now_, out);
  EXPECT_EQ(out, Command(3).Arg("AUTH").Arg("limiter").Arg("secret").Take() +
                     Command(2).Arg("SELECT").Arg("2").Take() +
                     Command(3).Arg("CLIENT").Arg("SETNAME").Arg("brim").Take());
  const std::string_view replies = "+OK\r\n+OK\r\n-NOPERM no client|setname\r\n";
  for (const char byte : replies) {
    EXPECT_FALSE(pipeline.ready());
    pipeline.ReadBuffer()[0] = byte;
    ASSERT_TRUE(pipeline.Received(1, now_).ok());
  }
  EXPECT_TRUE(pipeline.ready());
  out.clear();
  pipeline.Collect(now_, out);
  EXPECT_EQ(out, "a ");
}

TEST_F(PipelineTest, ARefusedSignInFailsAllWithSetupAndKeepsThePasswordSecret) {
  PipelineOptions options = Options();
  options.password = "secret";
  Pipeline pipeline(options);
  pipeline.Run("a ", now_ + 50ms, Note("a"));
  pipeline.Connecting(now_);
  pipeline.Connected();
  const std::string_view reply =
      "-ERR unknown command 'AUTH', with args beginning with: 'secret'\r\n";
  reply.copy(pipeline.ReadBuffer().data(), reply.size());
  std::string out;
  pipeline.Collect(now_, out);
  const auto received = pipeline.Received(reply.size(), now_);
  ASSERT_FALSE(received.ok());
  pipeline.Lost(received.error());
  EXPECT_TRUE(pipeline.refused());
  pipeline.Run("b ", now_ + 50ms, Note("b"));
  pipeline.CompleteFailed();
  EXPECT_EQ(Ends(), (Strings{"a=setup", "b=setup"}));
  EXPECT_EQ(message_.find("secret"), std::string::npos) << message_;
  EXPECT_NE(message_.find("redis at test: AUTH failed"), std::string::npos) << message_;
}

TEST_F(PipelineTest, AServerThatWantsAPasswordIsASetupFault) {
  pipeline_.Connecting(now_);
  pipeline_.Connected();
  Write();
  EXPECT_FALSE(Receive("-NOAUTH Authentication required.\r\n").ok());
  EXPECT_TRUE(pipeline_.refused());
  Connect();
  EXPECT_FALSE(pipeline_.refused());
}

TEST_F(PipelineTest, FirstCommandsWaitForTheConnectionWithinTheirDeadline) {
  Run("a", 50ms);
  Run("b", 200ms);
  pipeline_.Connecting(now_);
  EXPECT_TRUE(Tick(49'999us));
  EXPECT_EQ(Ends(), Strings{});
  EXPECT_TRUE(Tick(1us));
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
  Connect();
  EXPECT_EQ(Write(), "b ");
  EXPECT_EQ(pipeline_.stats().timeouts, 1u);
}

TEST_F(PipelineTest, WhileConnectingFailsCommandsFailAtOnce) {
  pipeline_.Connecting(now_);
  Run("a");
  Lose();
  Run("b");
  EXPECT_EQ(Ends(), (Strings{"a=unavailable", "b=unavailable"}));
  pipeline_.Connecting(now_);
  Run("c");
  EXPECT_EQ(Ends(), Strings{"c=unavailable"});
  Connect();
  Run("d");
  EXPECT_EQ(Write(), "d ");
}

TEST_F(PipelineTest, ConnectingAndSigningInHaveADeadline) {
  pipeline_.Connecting(now_);
  EXPECT_EQ(pipeline_.NextDeadline(), now_ + 1s);
  EXPECT_TRUE(Tick(999ms));
  pipeline_.Connected();
  Write();
  EXPECT_FALSE(Tick(1ms));
  Run("a");
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
}

TEST_F(PipelineTest, AnOverdueReplyDropsTheConnectionAndKeepsWhatWasNotWritten) {
  Connect();
  Run("late", 50ms);
  Run("other", 90ms);
  Write();
  Run("waits", 90ms);
  EXPECT_TRUE(Tick(49'999us));
  EXPECT_FALSE(Tick(1us));
  EXPECT_EQ(Ends(), (Strings{"late=unknown", "other=unknown"}));
  EXPECT_NE(message_.find("may have run"), std::string::npos) << message_;
  EXPECT_FALSE(pipeline_.ready());
  Connect();
  EXPECT_EQ(Write(), "waits ");
  EXPECT_TRUE(Receive(":7\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"waits=7"});
  EXPECT_EQ(pipeline_.stats().timeouts, 1u);
}

TEST_F(PipelineTest, AnOverdueCommandThatWasNotWrittenLeavesTheConnectionAlone) {
  Connect();
  Run("a", 10ms);
  Run("b", 20ms);
  EXPECT_TRUE(Tick(10ms));
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
  EXPECT_EQ(Write(), "b ");
  Run("c", 1ms);
  now_ += 1ms;
  EXPECT_EQ(Write(), "");  // overdue before the timer rang
  EXPECT_EQ(Ends(), Strings{"c=unavailable"});
}

TEST_F(PipelineTest, ALostConnectionLeavesWrittenCommandsUnknown) {
  Connect();
  Run("a");
  Run("bb");
  Run("c");
  std::string out;
  pipeline_.Collect(now_, out);
  pipeline_.Written(3);  // "a b" of "a bb c "
  Run("d");
  Lose();
  EXPECT_EQ(Ends(), (Strings{"a=unknown", "bb=unknown", "c=unavailable"}));
  Connect();
  EXPECT_EQ(Write(), "d ");
}

TEST_F(PipelineTest, ALateReplyNeverAnswersAnotherCommand) {
  Connect();
  Run("a");
  Write();
  EXPECT_TRUE(Receive(":").ok());  // half of a reply
  Lose();
  Connect();
  Run("b");
  Write();
  EXPECT_TRUE(Receive(":2\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"b=2", "a=unknown"}));
}

TEST_F(PipelineTest, AMalformedOrUnaskedReplyDropsTheConnection) {
  Connect();
  Run("a");
  Run("b");
  Write();
  EXPECT_FALSE(Receive(":1\r\n?\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"a=1", "b=unknown"}));
  Connect();
  EXPECT_FALSE(Receive(":1\r\n").ok());
}

TEST_F(PipelineTest, AMissingScriptIsLoadedOnceAndTheCommandsAreRepeated) {
  Connect();
  Eval("a");
  Run("b");
  Eval("c");
  Eval("x", 50ms, kOther);
  EXPECT_EQ(Write(), "a b c x ");
  EXPECT_TRUE(Receive(std::string(kNoScript) + ":2\r\n" + std::string(kNoScript)).ok());
  EXPECT_EQ(Ends(), Strings{"b=2"});
  Run("d");
  EXPECT_EQ(Write(), LoadCommand(kScript));  // d overtakes nobody
  EXPECT_TRUE(Receive(std::string(kNoScript)).ok());
  EXPECT_EQ(Write(), LoadCommand(kOther));
  EXPECT_TRUE(Receive("$3\r\nsha\r\n$3\r\nsha\r\n").ok());
  EXPECT_EQ(Write(), "x a c d ");
  EXPECT_TRUE(Receive(":9\r\n:1\r\n:3\r\n:4\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"x=9", "a=1", "c=3", "d=4"}));
  EXPECT_EQ(pipeline_.stats().script_loads, 2u);
}

TEST_F(PipelineTest, AScriptThatCannotBeLoadedFailsItsCommands) {
  Connect();
  Eval("a");
  Eval("b");
  Write();
  EXPECT_TRUE(Receive(std::string(kNoScript) + std::string(kNoScript)).ok());
  Write();
  EXPECT_TRUE(Receive("-NOPERM no script|load\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"a=setup", "b=setup"}));
}

TEST_F(PipelineTest, AScriptThatIsLostAgainAndAgainIsGivenUp) {
  Connect();
  Eval("a", 1h);
  for (int i = 0; i < limits::kMaxScriptLoads; ++i) {
    EXPECT_EQ(Write(), "a ");
    EXPECT_TRUE(Receive(kNoScript).ok());
    EXPECT_EQ(Write(), LoadCommand(kScript));
    EXPECT_TRUE(Receive("$3\r\nsha\r\n").ok());
  }
  EXPECT_EQ(Write(), "a ");
  EXPECT_TRUE(Receive(kNoScript).ok());
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
}

TEST_F(PipelineTest, WaitingForAScriptEndsAtTheDeadline) {
  Connect();
  Eval("a", 50ms);
  Write();
  EXPECT_TRUE(Receive(kNoScript).ok());
  Write();
  EXPECT_TRUE(Tick(50ms));
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
  Eval("b", 50ms);
  EXPECT_EQ(Write(), "");
  EXPECT_TRUE(Receive("$3\r\nsha\r\n").ok());
  EXPECT_EQ(Write(), "b ");
  EXPECT_TRUE(Receive(":2\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"b=2"});
}

TEST_F(PipelineTest, WaitingForAScriptOutlivesTheConnection) {
  Connect();
  Eval("a");
  Write();
  EXPECT_TRUE(Receive(kNoScript).ok());
  Write();
  Run("b");
  Lose();
  EXPECT_EQ(Ends(), Strings{});
  Connect();
  EXPECT_EQ(Write(), "a b ");
}

TEST_F(PipelineTest, BoundsWhatWaits) {
  Connect();
  for (std::size_t i = 0; i < limits::kMaxRepliesWaiting; ++i) {
    if (i == 10) Write();
    Run("a");
  }
  EXPECT_EQ(Ends(), Strings{});
  Run("b");
  EXPECT_EQ(Ends(), Strings{"b=unavailable"});
  EXPECT_TRUE(Receive(":1\r\n").ok());
  Run("c");
  EXPECT_EQ(Ends(), Strings{"a=1"});
}

TEST_F(PipelineTest, CloseCompletesEverythingAlsoWhatIsAskedMeanwhile) {
  Connect();
  Run("a");
  Write();
  pipeline_.Run("b ", now_ + 50ms, [this](Result<Reply> reply) {
    EXPECT_EQ(reply.error().code, kUnavailable);
    Run("again");
  });
  pipeline_.Close({kUnavailable, "closed", ""});
  EXPECT_EQ(std::exchange(ends_, {}), (Strings{"a=unknown", "again=unavailable"}));
}

TEST_F(PipelineTest, NothingIsAwaitedWhenNothingWaits) {
  EXPECT_EQ(pipeline_.NextDeadline(), std::nullopt);
  Connect();
  Run("a", 50ms);
  EXPECT_EQ(pipeline_.NextDeadline(), now_ + 50ms);
  Write();
  EXPECT_TRUE(Receive(":1\r\n").ok());
  EXPECT_TRUE(Tick(50ms));
  EXPECT_TRUE(Tick(2s));
  EXPECT_EQ(pipeline_.NextDeadline(), std::nullopt);
}

TEST_F(PipelineTest, WhatSurelyDidNotRunIsAskedAgainTwiceWithinItsDeadline) {
  Connect();
  for (const std::string word : {"LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN"}) {
    SCOPED_TRACE(word);
    Run("a");
    for (int i = 0; i < limits::kMaxRepeats; ++i) {
      EXPECT_EQ(Write(), "a ");
      EXPECT_TRUE(Receive("-" + word + " later\r\n").ok());
      EXPECT_EQ(Write(), "");  // not at once
      EXPECT_TRUE(Tick(2 * limits::kMaxRepeatDelay));
    }
    EXPECT_EQ(Write(), "a ");
    EXPECT_TRUE(Receive("-" + word + " later\r\n").ok());
    EXPECT_EQ(Ends(), Strings{"a=unavailable"});
  }
  Run("b", 1us);
  EXPECT_EQ(Write(), "b ");
  EXPECT_TRUE(Receive("-LOADING\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"b=unavailable"});  // no time to ask again
  Run("c");
  EXPECT_EQ(Write(), "c ");
  EXPECT_TRUE(Receive("-OOM\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"c=oom"});  // would be answered the same
}

TEST_F(PipelineTest, AReplicaIsLeftWhenNothingIsAwaitedAndTheCommandAskedElsewhere) {
  Connect();
  Run("a");
  Run("b");
  Run("c");
  EXPECT_EQ(Write(), "a b c ");
  EXPECT_TRUE(Receive("-READONLY replica\r\n:2\r\n").ok());
  Run("d");
  EXPECT_EQ(Write(), "");
  EXPECT_FALSE(Receive("-READONLY replica\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"b=2"});
  Connect();
  EXPECT_EQ(Write(), "a c d ");
  EXPECT_TRUE(Receive("-READONLY replica\r\n:3\r\n:4\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"a=unavailable", "c=3", "d=4"}));
}

TEST_F(PipelineTest, ACommandThatWaitedInVainOpensTheBreaker) {
  pipeline_.Connecting(now_);
  Run("a", 50ms);
  EXPECT_TRUE(Tick(50ms));
  Run("b", 50ms);
  EXPECT_EQ(Ends(), (Strings{"a=unavailable", "b=unavailable"}));
  pipeline_.Connected();
  Write();
  EXPECT_TRUE(Receive("+OK\r\n").ok());
  Run("c");
  EXPECT_EQ(Write(), "c ");
}

TEST_F(PipelineTest, LateRepliesInARowOpenTheBreakerUntilOneProbeIsAnswered) {
  for (int i = 0; i < limits::kLateRepliesToOpen; ++i) {
    Connect();
    Run("late");
    Write();
    EXPECT_FALSE(Tick(50ms));
    EXPECT_EQ(Ends(), Strings{"late=unknown"});
  }
  Run("a");
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
  Connect();
  Run("probe");
  Run("b");
  EXPECT_EQ(Ends(), Strings{"b=unavailable"});
  EXPECT_EQ(Write(), "probe ");
  EXPECT_FALSE(Tick(50ms));
  EXPECT_EQ(Ends(), Strings{"probe=unknown"});
  Connect();
  Run("probe", 10ms);
  EXPECT_TRUE(Tick(10ms));
  EXPECT_EQ(Ends(), Strings{"probe=unavailable"});  // it never left: the next one is the probe
  Run("probe");
  Write();
  EXPECT_TRUE(Receive(":1\r\n").ok());
  Run("c");
  EXPECT_EQ(Write(), "c ");
  EXPECT_EQ(Ends(), Strings{"probe=1"});
}

// Signs in with a self-test; what it answers decides.
class SelfTestTest : public PipelineTest {
 protected:
  SelfTestTest() {
    PipelineOptions options = Options();
    options.self_test = &kScript;
    pipeline.emplace(options);
    pipeline->Run("a ", now_ + 1h, Note("a"));
    pipeline->Connecting(now_);
    pipeline->Connected();
  }
  std::string Collect() {
    std::string out;
    pipeline->Collect(now_, out);
    return out;
  }
  Result<void> Get(std::string_view bytes) {
    bytes.copy(pipeline->ReadBuffer().data(), bytes.size());
    return pipeline->Received(bytes.size(), now_);
  }
  const std::string test_ = Command(3).Arg("EVALSHA").Arg(kScript.sha1()).Arg(0).Take();
  std::optional<Pipeline> pipeline;
};

TEST_F(SelfTestTest, IsLoadedAndPassed) {
  EXPECT_TRUE(Collect().ends_with(test_));
  EXPECT_TRUE(Get("+OK\r\n" + std::string(kNoScript)).ok());
  EXPECT_EQ(Collect(), LoadCommand(kScript) + test_);
  EXPECT_TRUE(Get("$3\r\nsha\r\n").ok());
  EXPECT_FALSE(pipeline->ready());
  EXPECT_TRUE(Get("*0\r\n").ok());
  EXPECT_TRUE(pipeline->ready());
}

TEST_F(SelfTestTest, WaitsForTheFirstCommandOfAllButNotAfterALoss) {
  PipelineOptions options = Options();
  options.self_test = &kScript;
  pipeline.emplace(options);
  pipeline->Connecting(now_);
  pipeline->Connected();
  EXPECT_FALSE(Collect().ends_with(test_));
  EXPECT_TRUE(Get("+OK\r\n").ok());
  EXPECT_TRUE(pipeline->ready());
  pipeline->Run("a ", now_ + 1h, Note("a"));
  EXPECT_EQ(Collect(), test_);
  EXPECT_TRUE(Get("*0\r\n").ok());
  EXPECT_EQ(Collect(), "a ");
  EXPECT_EQ(pipeline->stats().connects, 1u);
  pipeline->Lost({kUnavailable, "", ""});
  pipeline->Connecting(now_);
  pipeline->Connected();
  EXPECT_TRUE(Collect().ends_with(test_));
}

TEST_F(SelfTestTest, NamesWhatIsMissing) {
  Collect();
  const auto refused = Get("+OK\r\n*2\r\n$4\r\ntime\r\n$4\r\nzadd\r\n");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, kSetup);
  EXPECT_NE(refused.error().message.find("ACL SETUSER default +time +zadd"), std::string::npos);
}

TEST_F(SelfTestTest, FailsWithTheServerThatIsNoUseNow) {
  for (const std::string word : {"LOADING", "READONLY", "NOPERM", "BUSY"}) {
    pipeline->Lost({kUnavailable, "", ""});
    pipeline->Connecting(now_);
    pipeline->Connected();
    Collect();
    EXPECT_FALSE(Get("+OK\r\n-" + word + " x\r\n").ok()) << word;
  }
}

TEST_F(SelfTestTest, PassesWhereOnlyWritesAreRefused) {
  Collect();
  EXPECT_TRUE(Get("+OK\r\n-MISCONF cannot save\r\n").ok());
  EXPECT_TRUE(pipeline->ready());
}

TEST_F(SelfTestTest, AScriptThatCannotBeLoadedIsASetupFault) {
  Collect();
  EXPECT_TRUE(Get("+OK\r\n" + std::string(kNoScript)).ok());
  Collect();
  const auto refused = Get("-NOPERM no script|load\r\n");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, kSetup);
}

TEST_F(PipelineTest, OnlyAPrimaryIsSignedInToWhereTheRoleCounts) {
  PipelineOptions options = Options();
  options.check_role = true;
  for (const auto& [reply, good] : {std::pair{"*1\r\n$6\r\nmaster\r\n", true},
                                    {"*1\r\n$5\r\nslave\r\n", false},
                                    {"-NOPERM no role\r\n", true}}) {
    Pipeline pipeline(options);
    pipeline.Connecting(now_);
    pipeline.Connected();
    std::string out;
    pipeline.Collect(now_, out);
    EXPECT_TRUE(out.ends_with(Command(1).Arg("ROLE").Take()));
    const std::string bytes = std::string("+OK\r\n") + reply;
    bytes.copy(pipeline.ReadBuffer().data(), bytes.size());
    EXPECT_EQ(pipeline.Received(bytes.size(), now_).ok(), good) << reply;
    EXPECT_EQ(pipeline.ready(), good);
  }
}

TEST_F(PipelineTest, WhatIsSentAwayIsHandedOnAtMostSoOften) {
  std::vector<Redirected> away;
  PipelineOptions options = Options();
  options.redirect = [&](Redirected redirected) { away.push_back(std::move(redirected)); };
  Pipeline pipeline(options);
  const auto exchange = [&](std::string_view reply) {
    std::string out;
    pipeline.Collect(now_, out);
    reply.copy(pipeline.ReadBuffer().data(), reply.size());
    EXPECT_TRUE(pipeline.Received(reply.size(), now_).ok());
    return out;
  };
  pipeline.Connecting(now_);
  pipeline.Connected();
  exchange("+OK\r\n");
  pipeline.Run("a ", now_ + 50ms, Note("a"));
  EXPECT_EQ(exchange("-MOVED 7 10.0.0.1:7001\r\n"), "a ");
  ASSERT_EQ(away.size(), 1u);
  EXPECT_FALSE(away[0].direction.ask);
  EXPECT_EQ(away[0].direction.slot, 7);
  EXPECT_EQ(away[0].direction.to, (Endpoint{.host = "10.0.0.1", .port = 7001}));
  EXPECT_EQ(away[0].hops, 1);
  for (int i = 1; i < limits::kMaxHops; ++i) {
    away.back().direction.ask = true;
    pipeline.Forward(std::move(away.back()));
    EXPECT_EQ(exchange("+OK\r\n-ASK 7 ::1:7002\r\n"), Command(1).Arg("ASKING").Take() + "a ");
    EXPECT_EQ(away.back().direction.to, (Endpoint{.host = "::1", .port = 7002}));
  }
  pipeline.Forward(std::move(away.back()));
  exchange("+OK\r\n-ASK 7 ::1:7002\r\n");
  EXPECT_EQ(Ends(), Strings{"a=unavailable"});
}

}  // namespace
}  // namespace brim::redis
