// The files of AWS' tools: ~/.aws/credentials and ~/.aws/config.
//
// Read as those tools read them: [name] in the one, [default] and [profile name] in the other;
// `key = value`; # and ; begin a comment. Indented lines belong to the key above (`s3 =`) and are
// read over. Lines that are none of this are read over, too: the file is not ours.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace baton::s3 {

using Profile = std::map<std::string, std::string>;  // keys in lower case
using Profiles = std::map<std::string, Profile>;

enum class ProfileFile : bool { credentials, config };

[[nodiscard]] Profiles read_profiles(std::string_view text, ProfileFile file);

}  // namespace baton::s3
