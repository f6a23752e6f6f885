#include "base/text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/rounding.h"

namespace brim {
namespace {

TEST(DecimalTest, HoldsEveryNumber) {
  EXPECT_EQ(Decimal(0).view(), "0");
  EXPECT_EQ(Decimal(-1).view(), "-1");
  EXPECT_EQ(Decimal(std::numeric_limits<std::int64_t>::max()).view(), "9223372036854775807");
  EXPECT_EQ(Decimal(std::numeric_limits<std::int64_t>::min()).view(), "-9223372036854775808");
}

TEST(HexTest, ReadsWhatItWrites) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string hex;
    AppendHex(static_cast<unsigned char>(byte), hex);
    ASSERT_EQ(hex.size(), 2u);
    EXPECT_EQ(HexValue(hex[0]) * 16 + HexValue(hex[1]), byte);
  }
  EXPECT_EQ(HexValue('F'), 15);
  for (const char c : {'g', 'G', '/', ':', '@', '`', ' ', '\0'}) EXPECT_EQ(HexValue(c), -1) << c;
}

TEST(PercentDecodeTest, DecodesBytesAndRefusesTheRest) {
  const auto decode = [](std::string_view text, char plus = '+') {
    std::string out = "kept ";
    return AppendPercentDecoded(text, out, plus) ? out : "refused";
  };
  EXPECT_EQ(decode("a%20b%2Bc+"), "kept a b+c+");
  EXPECT_EQ(decode("a%20b%2Bc+", ' '), "kept a b+c ");
  EXPECT_EQ(decode("%ff%00"), std::string("kept \xff\0", 7));
  for (const std::string_view text : {"%", "%4", "%4g", "%-1", "a%", "% 1"}) {
    EXPECT_EQ(decode(text), "refused") << text;
  }
}

TEST(RoundingTest, UpAndDown) {
  EXPECT_EQ(DivideUp(0, 3), 0);
  EXPECT_EQ(DivideUp(1, 3), 1);
  EXPECT_EQ(DivideUp(3, 3), 1);
  EXPECT_EQ(DivideUp(4, 3), 2);
  EXPECT_EQ(DivideUp(std::numeric_limits<std::int64_t>::max(), 2), std::int64_t{1} << 62);
  EXPECT_EQ(WholeMs(Micros(1999)), 1);
  EXPECT_EQ(WholeMs(Micros(2000)), 2);
}

}  // namespace
}  // namespace brim
