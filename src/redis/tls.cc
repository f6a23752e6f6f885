#include "redis/tls.h"

#include <utility>

#include <boost/asio/ssl/context.hpp>

#include "redis/reply_error.h"

namespace brim::redis {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Error Bad(const std::string& what, const std::string& file, const error_code& error) {
  return {ErrorCode::kSetup, "TLS: " + what + " " + Printable(file) + ": " + error.message(), {}};
}

}  // namespace

Result<ssl::context> MakeTlsContext(const TlsOptions& options) {
  ssl::context context(ssl::context::tls_client);
  error_code error;
  context.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  context.set_verify_mode(ssl::verify_peer, error);
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(error);
    if (error) return Bad("cannot read the system's certificates", "", error);
  } else {
    context.load_verify_file(options.ca_file, error);
    if (error) return Bad("cannot use the CA file", options.ca_file, error);
  }
  if (options.cert_file.empty()) return context;
  context.use_certificate_chain_file(options.cert_file, error);
  if (error) return Bad("cannot use the certificate", options.cert_file, error);
  const std::string& key = options.key_file.empty() ? options.cert_file : options.key_file;
  context.use_private_key_file(key, ssl::context::pem, error);
  if (error) return Bad("cannot use the key", key, error);
  return context;
}

}  // namespace brim::redis
