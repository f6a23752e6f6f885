#include "store/slot_table.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace brim {
namespace {

// Names that crowd into few homes and few tags, so that groups, wraps and equal tags all occur.
KeyHash CrowdedId(std::mt19937_64& random) {
  return {(random() % 7) << 61 | random() % 64, (random() % 3) << 57 | random() % 4};
}

TEST(SlotTableTest, FindsWhatWasAddedAndNothingElse) {
  for (std::uint32_t capacity = 2; capacity <= 40; ++capacity) {
    std::mt19937_64 random(capacity);
    SlotTable table(capacity);
    std::vector<KeyHash> added;
    while (added.size() + 1 < capacity) {
      const KeyHash id = CrowdedId(random);
      if (table.Find(id) != nullptr) continue;
      table.Add(id, SlotKind::kFixedWindow);
      added.push_back(id);
    }
    for (const KeyHash& id : added) {
      const Slot* const slot = table.Find(id);
      ASSERT_NE(slot, nullptr) << capacity;
      EXPECT_EQ(slot->id, id);
      EXPECT_TRUE(table.taken(table.IndexOf(*slot)));
    }
    for (int n = 0; n < 1000; ++n) EXPECT_EQ(table.Find({random(), random()}), nullptr);
  }
}

TEST(SlotTableTest, AllMoveToAnotherCapacity) {
  std::mt19937_64 random(1);
  SlotTable small(20);
  std::vector<KeyHash> added;
  for (int n = 0; n < 15; ++n) {
    added.push_back({random(), random()});
    small.Add(added.back(), SlotKind::kFixedWindow);
  }
  SlotTable large(31);
  large.TakeFrom(small);
  small.Swap(large);
  EXPECT_EQ(small.capacity(), 31u);
  for (const KeyHash& id : added) EXPECT_NE(small.Find(id), nullptr);
}

TEST(SlotTableTest, AnEmptyTableHoldsNothing) {
  const SlotTable table;
  EXPECT_EQ(table.capacity(), 0u);
  EXPECT_EQ(table.Find({1, 2}), nullptr);
  EXPECT_EQ(SlotTable::BytesOf(0), 0u);
}

}  // namespace
}  // namespace brim
