#include "base/snapshot.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace brim {
namespace {

struct Pair {
  int left;
  int right;
};

TEST(SnapshotHolderTest, GetReturnsTheLastOneThatWasPutIn) {
  SnapshotHolder<int> holder(std::make_shared<const int>(1));
  const auto kept = holder.Get();
  holder.Replace(std::make_shared<const int>(2));
  EXPECT_EQ(*kept, 1);
  EXPECT_EQ(*holder.Get(), 2);
}

TEST(SnapshotHolderTest, HoldersAreNotMixedUp) {
  SnapshotHolder<int> a(std::make_shared<const int>(1));
  SnapshotHolder<int> b(std::make_shared<const int>(2));
  EXPECT_EQ(*a.Get(), 1);
  EXPECT_EQ(*b.Get(), 2);
  EXPECT_EQ(*a.Get(), 1);
}

TEST(SnapshotHolderTest, AReplacedSnapshotGoesWithItsLastReader) {
  auto first = std::make_shared<const int>(1);
  const std::weak_ptr<const int> watched = first;
  SnapshotHolder<int> holder(std::move(first));
  EXPECT_EQ(*holder.Get(), 1);
  holder.Replace(std::make_shared<const int>(2));
  EXPECT_EQ(*holder.Get(), 2);
  EXPECT_TRUE(watched.expired());
}

TEST(SnapshotHolderTest, ThreadsSeeWholeSnapshots) {
  SnapshotHolder<Pair> holder(std::make_shared<const Pair>(Pair{0, 0}));
  std::vector<std::thread> readers;
  std::atomic<bool> mixed{false};
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      int last = 0;
      while (last < 2000) {  // stops: the writer gets there
        const auto pair = holder.Get();
        if (pair->left != pair->right || pair->left < last) mixed = true;
        last = pair->left;
      }
    });
  }
  for (int i = 1; i <= 2000; ++i) holder.Replace(std::make_shared<const Pair>(Pair{i, i}));
  for (std::thread& reader : readers) reader.join();
  EXPECT_FALSE(mixed);
}

}  // namespace
}  // namespace brim
