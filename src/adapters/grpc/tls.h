// Which certificates a process shows, and by whom those of others must be signed.
#pragma once

#include <string>

namespace baton {

// Paths of PEM files. With them, both ends of every connection show a certificate that `ca` has
// signed; the name in that of who is dialled must be the host that was dialled.
struct TlsFiles {
    std::string ca;
    std::string cert;
    std::string key;
};

}  // namespace baton
