// IP addresses and networks as values. One address has one value and one text, however it was
// written: an IPv4 address inside IPv6 (::ffff:192.0.2.1) is the IPv4 address, and a zone (%eth0)
// is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace brim {

// A plain value.
class IpAddress {
 public:
  // "192.0.2.7", "2001:DB8:0::1", "fe80::1%eth0"; nullopt for anything else: no port, no brackets,
  // no white space, no leading zeros in IPv4.
  static std::optional<IpAddress> Parse(std::string_view text);

  bool is_v4() const { return v4_; }
  int bits() const { return v4_ ? 32 : 128; }

  // All but the first `bits` bits set to 0. REQUIRES: 0 <= bits <= this->bits().
  IpAddress Masked(int bits) const;

  // As RFC 5952 has it: "192.0.2.7", "2001:db8::1".
  std::string ToString() const;

  bool operator==(const IpAddress&) const = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // of an IPv4 address the first four
  bool v4_ = false;
};

// A network, "10.0.0.0/8". A plain value.
class Cidr {
 public:
  // An address alone is a network of one. nullopt also if there are bits behind the prefix
  // (10.0.0.1/8): that is far more often a mistake than meant.
  static std::optional<Cidr> Parse(std::string_view text);

  bool Contains(const IpAddress& address) const {
    return address.is_v4() == base_.is_v4() && address.Masked(bits_) == base_;
  }
  bool is_v4() const { return base_.is_v4(); }
  int prefix() const { return bits_; }
  std::string ToString() const;

  bool operator==(const Cidr&) const = default;

 private:
  Cidr(const IpAddress& base, int bits) : base_(base), bits_(bits) {}
  IpAddress base_;
  int bits_;
};

}  // namespace brim
