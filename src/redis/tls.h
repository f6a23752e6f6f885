// TLS to a server: the settings of a URL, and the context that they make.
#pragma once

#include <string>

#include <brim/result.h>

namespace boost::asio::ssl {
class context;
}

namespace brim::redis {

// The server's certificate is always verified, its name too. A plain value.
struct TlsOptions {
  std::string ca_file = {};      // PEM; empty: the system's
  std::string cert_file = {};    // PEM, of the client; empty: it shows none
  std::string key_file = {};     // PEM; empty: it is in cert_file
  std::string server_name = {};  // that the certificate must name; empty: the host of the endpoint
};

// Reads the files. kSetup: which one cannot be used, and why.
Result<boost::asio::ssl::context> MakeTlsContext(const TlsOptions& options);

}  // namespace brim::redis
