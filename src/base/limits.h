// Every named maximum of brim in one place. What is beyond one gets a typed error or a stated
// answer. The maxima that users see (kMaxLines, kMaxKeyBytes, the bounds of a Limit) are in
// include/brim.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace brim::limits {

// Keys: the parts of kMaxKeyBytes. A longer part is replaced by its hash.
inline constexpr std::size_t kMaxSubjectBytes = 128;  // after percent-encoding
inline constexpr std::size_t kMaxScopeBytes = 64;     // after percent-encoding
inline constexpr std::size_t kMaxPrefixBytes = 32;

// Limits as text.
inline constexpr std::size_t kMaxLimitTextBytes = 1024;
inline constexpr std::size_t kMaxShownWordBytes = 32;  // of a word that a message repeats

// The decision API.
inline constexpr std::size_t kMaxBatchChecks = 1000;    // in one request; then: 413
inline constexpr std::size_t kKnownLimits = 256;        // texts of limits that a shard remembers
inline constexpr std::size_t kMaxKnownLimitBytes = 40;  // longer ones are read each time
inline constexpr std::size_t kMaxTokenBytes = 4096;     // of a token file

// JSON from outside.
inline constexpr std::size_t kMaxJsonDepth = 32;  // of what is skipped; then: no valid JSON

// The configuration file.
inline constexpr std::size_t kMaxConfigBytes = 1 << 20;
inline constexpr std::size_t kMaxChangesWaiting = 64;  // reloads and modes; then: refused
inline constexpr std::size_t kMaxKeyTableBytes = 16 << 20;
inline constexpr std::size_t kMaxYamlDepth = 32;
inline constexpr std::size_t kMaxYamlNodes = 500'000;   // those that aliases repeat included
inline constexpr std::size_t kMaxRules = 20'000;        // tiers and routes
inline constexpr std::size_t kMaxNameBytes = 64;        // of a tier, a route, a header
inline constexpr std::size_t kMaxPathBytes = 1024;      // of a route
inline constexpr std::size_t kMaxConfigIssues = 100;    // told; those behind them are not
inline constexpr std::size_t kMaxShownLineBytes = 160;  // of a line that a message repeats

// Of an unweighted log, which takes a cost of n as n entries.
inline constexpr std::int64_t kMaxLogCost = 64;

// The embedded store.
inline constexpr std::size_t kMaxMemoryShards = 16'384;
inline constexpr std::size_t kMaxSlotsReadPerCall = 8192;  // to evict; the next calls go on with it

// Addresses, as sockaddr_un and DNS have it.
inline constexpr std::size_t kMaxUnixPathBytes = 107;  // without the NUL
inline constexpr std::size_t kMaxHostBytes = 253;

// Redis client, per connection.
inline constexpr std::size_t kMaxRepliesWaiting = 65'536;  // then: kUnavailable, at once
inline constexpr std::size_t kMaxReplyBytes = 1 << 20;     // then: the connection is dropped
inline constexpr std::size_t kMaxReplyDepth = 8;           // likewise
inline constexpr int kMaxScriptLoads = 20;                 // for one command; then: kUnavailable
inline constexpr int kMaxRepeats = 2;  // of a command that LOADING or the like kept from running
inline constexpr int kMaxHops = 3;     // of a command from node to node; then: kUnavailable
inline constexpr int kLateRepliesToOpen =
    3;  // connections in a row; then the circuit breaker opens
inline constexpr std::size_t kMaxNodes = 1024;  // of a cluster; the others are not asked
inline constexpr std::chrono::milliseconds kTopologyPause{100};  // between two questions, at least
inline constexpr std::chrono::seconds kTopologyLook{30};         // at a cluster that seems whole
inline constexpr std::chrono::seconds kTopologyLookWhenBroken{1};
inline constexpr std::size_t kMaxSentinels = 16;
inline constexpr std::chrono::milliseconds kSentinelTimeout{400};  // of one question to one of them
inline constexpr std::chrono::milliseconds kSentinelPause{200};  // before listening to the next one
inline constexpr std::chrono::milliseconds kMaxRepeatDelay{8};   // doubles with each repeat
inline constexpr std::chrono::milliseconds kConnectTimeout{1000};
inline constexpr std::chrono::milliseconds kMinReconnectDelay{50};
inline constexpr std::chrono::milliseconds kMaxReconnectDelay{1000};

// Proxies that a request came through; those further away are not looked at.
inline constexpr std::size_t kMaxForwardedHops = 32;

// Redis store.
inline constexpr std::size_t kMaxMergedTakes = 256;    // in a script call; then: one more call
inline constexpr std::size_t kMaxMergedMembers = 256;  // that such a call adds to a log; likewise
inline constexpr std::size_t kMaxRefusals = 4096;      // remembered; then: some other is forgotten
inline constexpr std::chrono::milliseconds kMaxHold{5};  // of a take whose unit is about to be free

// HTTP/1.1, per connection.
inline constexpr std::size_t kMaxRequestLineBytes = 8 << 10;  // then: 414
inline constexpr std::size_t kMaxHeaderBytes = 32 << 10;      // all headers; then: 431
inline constexpr std::size_t kMaxHeaders = 100;               // then: 431
inline constexpr std::size_t kMaxChunkLineBytes = 256;        // size and extensions; then: 400
inline constexpr std::size_t kMaxBodyBytes = 1 << 20;         // default of a server; then: 413
inline constexpr std::chrono::seconds kHeaderTimeout{10};     // from the first byte; then: 408
inline constexpr std::chrono::seconds kIdleTimeout{60};
inline constexpr std::size_t kMinBodyBytesPerSecond = 240;  // slower: 408
inline constexpr std::size_t kMaxConnections = 10'000;      // per shard; then: accept and close
inline constexpr std::chrono::seconds kDrainTimeout{10};
inline constexpr std::size_t kMaxUnsentBytes = 64 << 10;  // then: written before the next request
inline constexpr std::size_t kMaxKeptBytes = 64 << 10;    // a buffer that grew larger is given back
inline constexpr std::chrono::seconds kLingerTimeout{2};  // to let a client read why it is closed,
inline constexpr std::size_t kMaxLingerBytes = 1 << 20;   // dropping what it still sends
inline constexpr std::chrono::milliseconds kAcceptRetry{100};  // after no descriptor was left
inline constexpr int kMaxAcceptsPerTurn = 64;

}  // namespace brim::limits
