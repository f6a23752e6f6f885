#include "support/tls_files.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace brim::testing {
namespace {

void OpenSsl(const std::filesystem::path& dir, const std::string& args) {
  const std::string command = "cd '" + dir.string() + "' && openssl " + args + " >log 2>&1";
  if (std::system(command.c_str()) == 0) return;
  std::fprintf(stderr, "FAILED: %s; apt-get install openssl\n", command.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

TlsFiles::TlsFiles() {
  std::string dir = (std::filesystem::temp_directory_path() / "brim-tls-XXXXXX").string();
  if (mkdtemp(dir.data()) == nullptr) std::_Exit(1);
  dir_ = dir;
  Authority("ca");
  Authority("other");
  Certificate("server", "DNS:localhost,DNS:redis.test,IP:127.0.0.1");
  Certificate("named", "DNS:redis.test");
  Certificate("client", "DNS:client.test");
}

TlsFiles::~TlsFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

void TlsFiles::Authority(const std::string& name) const {
  OpenSsl(dir_,
          "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" +
              name + " -keyout " + name + ".key -out " + name + ".pem");
}

void TlsFiles::Certificate(const std::string& name, const std::string& alt_names) const {
  std::ofstream(dir_ / (name + ".ext")) << "subjectAltName=" << alt_names << "\n";
  OpenSsl(dir_, "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" + name +
                    " -keyout " + name + ".key -out " + name + ".csr");
  OpenSsl(dir_, "x509 -req -days 2 -in " + name +
                    ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -out " + name +
                    ".pem -extfile " + name + ".ext");
}

}  // namespace brim::testing
