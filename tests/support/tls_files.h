// Certificates for one test, made by the openssl program, in a directory that ends with the object.
#pragma once

#include <filesystem>
#include <string>

namespace brim::testing {

// "ca.pem"; "server.pem" and "server.key", for localhost, redis.test and 127.0.0.1; "client.pem"
// and "client.key"; "named.pem" and "named.key", for redis.test alone; all of that CA. "other.pem"
// is another CA. If openssl is missing, the test program ends, and fails.
class TlsFiles {
 public:
  TlsFiles();
  ~TlsFiles();
  TlsFiles(const TlsFiles&) = delete;
  TlsFiles& operator=(const TlsFiles&) = delete;

  std::string Path(const std::string& name) const { return (dir_ / name).string(); }

 private:
  void Authority(const std::string& name) const;
  void Certificate(const std::string& name, const std::string& alt_names) const;

  std::filesystem::path dir_;
};

}  // namespace brim::testing
