#include "base/ip_address.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace brim {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

// Reads the text into as many bytes as the family has.
bool ReadBytes(int family, std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  char terminated[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof(terminated)) return false;
  if (text.find('\0') != std::string_view::npos) return false;
  *std::copy(text.begin(), text.end(), terminated) = '\0';
  return inet_pton(family, terminated, bytes.data()) == 1;
}

std::optional<int> ParseBits(std::string_view text, int most) {
  int bits = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  if (bits < 0 || bits > most || text.front() == '-') return std::nullopt;
  return bits;
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  IpAddress address;
  if (ReadBytes(AF_INET, text, address.bytes_)) {
    address.v4_ = true;
    return address;
  }
  const std::size_t zone = text.find('%');
  if (zone != std::string_view::npos && zone + 1 == text.size()) return std::nullopt;
  if (!ReadBytes(AF_INET6, text.substr(0, zone), address.bytes_)) return std::nullopt;
  if (!std::equal(kMapped.begin(), kMapped.end(), address.bytes_.begin())) return address;
  std::copy(address.bytes_.begin() + kMapped.size(), address.bytes_.end(), address.bytes_.begin());
  std::fill(address.bytes_.begin() + 4, address.bytes_.end(), std::uint8_t{0});
  address.v4_ = true;
  return address;
}

IpAddress IpAddress::Masked(int bits) const {
  IpAddress masked = *this;
  for (std::size_t i = 0; i < masked.bytes_.size(); ++i) {
    const int kept = std::clamp(bits - static_cast<int>(i) * 8, 0, 8);
    masked.bytes_[i] = static_cast<std::uint8_t>(masked.bytes_[i] & (0xFF00 >> kept));
  }
  return masked;
}

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), text, sizeof(text));
}

std::optional<Cidr> Cidr::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto base = IpAddress::Parse(text.substr(0, slash));
  if (!base) return std::nullopt;
  if (slash == std::string_view::npos) return Cidr(*base, base->bits());
  const auto bits = ParseBits(text.substr(slash + 1), base->bits());
  if (!bits || base->Masked(*bits) != *base) return std::nullopt;
  return Cidr(*base, *bits);
}

std::string Cidr::ToString() const { return base_.ToString() + "/" + std::to_string(bits_); }

}  // namespace brim
