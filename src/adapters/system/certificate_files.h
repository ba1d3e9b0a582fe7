// The certificates that a process shows, and by whom those of others must be signed.
#pragma once

#include <string>

namespace baton::system {

// Paths of PEM files. With them, both ends of every connection show a certificate that `ca` has
// signed. Files that change are read again.
struct TlsFiles {
    std::string ca;
    std::string cert;
    std::string key;
};

// The same as texts.
struct TlsTexts {
    std::string ca;
    std::string cert;
    std::string key;
};

}  // namespace baton::system
