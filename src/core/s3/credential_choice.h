// choose_credentials() decides where the keys for a bucket come from.
//
// Input:    the URL's own keys, the environment, and the files of AWS' tools, read before.
// Output:   one source: keys that are there, or the place that gives temporary ones.
// Order:    1 the URL; 2 AWS_ACCESS_KEY_ID; 3 the profile AWS_PROFILE, or "default", of the files;
//           4 AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN; 5 AWS_CONTAINER_CREDENTIALS_*;
//           6 the metadata service of the machine, unless AWS_EC2_METADATA_DISABLED is true.
//           The first that is there is taken, and its errors are not hidden by trying the next.
// Errors:   missing_configuration or invalid_configuration, by the name of the variable or profile.
//           No message holds a value of a key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"

namespace baton::s3 {

struct Keys {
    std::string id;
    std::string secret;
    std::string token;  // of a session; empty: there is none

    friend bool operator==(const Keys&, const Keys&) = default;
};

struct FixedKeys {
    Keys keys;
    std::string from;  // "the URL", "AWS_ACCESS_KEY_ID", "profile "x" .."
};
struct WebIdentity {
    std::string token_file;
    std::string role;
    std::string session;
    std::string endpoint;  // of STS: "https://sts.eu-west-1.amazonaws.com"
};
struct ContainerEndpoint {
    std::string url;
    std::string token;       // for the header Authorization; empty: none
    std::string token_file;  // read each time instead; empty: none
};
struct MachineMetadata {
    std::string endpoint;  // "http://169.254.169.254"
};
using CredentialSource = std::variant<FixedKeys, WebIdentity, ContainerEndpoint, MachineMetadata>;

struct CredentialInput {
    std::optional<Keys> of_url;
    std::map<std::string, std::string> environment;
    std::optional<std::string> credentials_file;  // its text; none: there is no such file
    std::optional<std::string> config_file;
    std::string region_of_url;  // empty: it has none
};

// The variables that are looked at.
[[nodiscard]] bool is_credential_variable(std::string_view name);

struct CredentialFiles {
    std::string credentials;  // paths; empty: there is no home
    std::string config;
};
[[nodiscard]] CredentialFiles credential_files(
    const std::map<std::string, std::string>& environment);

[[nodiscard]] Result<CredentialSource> choose_credentials(const CredentialInput& input);

// The URL, AWS_REGION, AWS_DEFAULT_REGION, the profile. Empty: none says.
[[nodiscard]] Result<std::string> choose_region(const CredentialInput& input);

// For messages: "the profile "x"", "the metadata service at http://..".
[[nodiscard]] std::string name_of(const CredentialSource& source);

struct TemporaryKeys {
    Keys keys;
    std::optional<WallTime> expires;
};
// The JSON of containers and metadata services; the XML of STS' AssumeRoleWithWebIdentity.
[[nodiscard]] Result<TemporaryKeys> read_json_keys(std::string_view body);
[[nodiscard]] Result<TemporaryKeys> read_role_keys(std::string_view body);

// Printable, without spaces, and not too long: nothing else can be signed with or be a header.
[[nodiscard]] bool is_usable(const Keys& keys);

// Parts of a host's name, as it is put into URLs: "eu-west-1".
[[nodiscard]] bool is_region(std::string_view text);

}  // namespace baton::s3
