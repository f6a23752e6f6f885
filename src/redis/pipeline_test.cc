#include "redis/pipeline.h"

#include <string>
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
  static PipelineOptions Options() { return {"redis at test", "", "", 0, "brim", 1s}; }

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
  EXPECT_EQ(Write(), LoadCommand(kScript) + "d ");
  EXPECT_TRUE(Receive(std::string(kNoScript)).ok());
  EXPECT_EQ(Write(), LoadCommand(kOther));
  EXPECT_TRUE(Receive("$3\r\nsha\r\n:4\r\n$3\r\nsha\r\n").ok());
  EXPECT_EQ(Write(), "x a c ");
  EXPECT_TRUE(Receive(":9\r\n:1\r\n:3\r\n").ok());
  EXPECT_EQ(Ends(), (Strings{"d=4", "x=9", "a=1", "c=3"}));
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
  Write();
  EXPECT_TRUE(Receive("$3\r\nsha\r\n:2\r\n").ok());
  EXPECT_EQ(Ends(), Strings{"b=2"});
  EXPECT_EQ(Write(), "");
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

}  // namespace
}  // namespace brim::redis
