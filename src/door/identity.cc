#include "door/identity.h"

#include <string>

namespace brim::door {
namespace {

constexpr std::string_view kAnonymous = "anonymous";
// Over a unix socket there is no address to tell clients apart by.
constexpr std::string_view kUnixPeer = "unix";

}  // namespace

Result<Identity> Identify(const net::HttpRequest& request, const PolicySet& policy) {
  for (const SubjectSource& source : policy.identity.subject) {
    std::string_view subject;
    if (source.kind == SubjectSource::Kind::kHeader) {
      if (request.Count(source.header) > 1) {
        return Error{ErrorCode::kInvalid, "the header is there more than once; send it once",
                     source.header};
      }
      subject = request.Value(source.header);
    } else if (source.kind == SubjectSource::Kind::kPeerAddress &&
               request.peer_address != kUnixPeer) {
      subject = request.peer_address;
    }
    if (!subject.empty()) return Identity{subject, {}};
  }
  return Identity{kAnonymous, {}};
}

}  // namespace brim::door
