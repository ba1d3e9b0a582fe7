#include "core/s3/credential_choice.h"

#include <algorithm>
#include <array>

#include "base/overload.h"
#include "base/text.h"
#include "core/json/json.h"
#include "core/s3/documents.h"
#include "core/s3/profiles.h"
#include "core/s3/xml.h"

namespace baton::s3 {

namespace {

constexpr std::array<std::string_view, 18> kVariables = {"HOME",
                                                         "AWS_ACCESS_KEY_ID",
                                                         "AWS_SECRET_ACCESS_KEY",
                                                         "AWS_SESSION_TOKEN",
                                                         "AWS_PROFILE",
                                                         "AWS_SHARED_CREDENTIALS_FILE",
                                                         "AWS_CONFIG_FILE",
                                                         "AWS_REGION",
                                                         "AWS_DEFAULT_REGION",
                                                         "AWS_WEB_IDENTITY_TOKEN_FILE",
                                                         "AWS_ROLE_ARN",
                                                         "AWS_ROLE_SESSION_NAME",
                                                         "AWS_ENDPOINT_URL_STS",
                                                         "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                                         "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                                         "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                                         "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                                         "AWS_EC2_METADATA_DISABLED"};
constexpr std::string_view kMetadataEndpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

// Ways of a profile to keys that are not supported, by the key that asks for them.
constexpr std::array<std::string_view, 6> kRefusedWays = {"source_profile",     "credential_source",
                                                          "credential_process", "sso_session",
                                                          "sso_start_url",      "login_session"};

using Environment = std::map<std::string, std::string>;

// Empty: it is not set, or to nothing, which is the same for AWS' tools.
std::string value_of(const std::map<std::string, std::string>& values, std::string_view name) {
    const auto found = values.find(std::string(name));
    return found == values.end() ? "" : found->second;
}

Error missing(std::string message, std::string hint) {
    return {.code = ErrorCode::missing_configuration,
            .message = std::move(message),
            .hint = std::move(hint)};
}
Error invalid(std::string message, std::string hint) {
    return {.code = ErrorCode::invalid_configuration,
            .message = std::move(message),
            .hint = std::move(hint)};
}

struct NamedProfile {
    std::string name;
    Profile values;
    bool exists = false;
    bool demanded = false;  // by AWS_PROFILE
};

NamedProfile profile_of(const CredentialInput& input) {
    NamedProfile profile{.name = value_of(input.environment, "AWS_PROFILE")};
    profile.demanded = !profile.name.empty();
    if (!profile.demanded) profile.name = "default";
    const auto add = [&](const std::optional<std::string>& text, ProfileFile file) {
        if (!text) return;
        const Profiles profiles = read_profiles(*text, file);
        const auto found = profiles.find(profile.name);
        if (found == profiles.end()) return;
        profile.exists = true;
        profile.values.insert(found->second.begin(), found->second.end());  // the first one counts
    };
    add(input.credentials_file, ProfileFile::credentials);
    add(input.config_file, ProfileFile::config);
    return profile;
}

Result<CredentialSource> checked(Keys keys, std::string from) {
    if (!is_usable(keys)) {
        return invalid("the keys of " + from + " are no keys: empty, too long, or not printable",
                       "look for spaces and line breaks in them");
    }
    return CredentialSource(FixedKeys{std::move(keys), std::move(from)});
}

std::string session_of(const Environment& environment) {
    const std::string session = value_of(environment, "AWS_ROLE_SESSION_NAME");
    return session.empty() ? "baton" : session;
}

Result<CredentialSource> web_identity(const CredentialInput& input, std::string token_file,
                                      std::string role) {
    std::string endpoint = value_of(input.environment, "AWS_ENDPOINT_URL_STS");
    if (endpoint.empty()) {
        TRY_ASSIGN(region, choose_region(input));
        endpoint = region.empty() ? "https://sts.amazonaws.com"
                                  : "https://sts." + region + ".amazonaws.com" +
                                        (region.starts_with("cn-") ? ".cn" : "");
    }
    while (endpoint.ends_with('/')) endpoint.pop_back();
    return CredentialSource(WebIdentity{.token_file = std::move(token_file),
                                        .role = std::move(role),
                                        .session = session_of(input.environment),
                                        .endpoint = std::move(endpoint)});
}

// None: the profile holds no keys, nor a way to some.
Result<std::optional<CredentialSource>> of_profile(const CredentialInput& input) {
    const NamedProfile profile = profile_of(input);
    const std::string name = "profile " + in_quotes(profile.name);
    if (!profile.exists && profile.demanded) {
        return missing("there is no " + name + " in the files of AWS",
                       "correct AWS_PROFILE, or add the profile to ~/.aws/credentials");
    }
    const Keys keys{.id = value_of(profile.values, "aws_access_key_id"),
                    .secret = value_of(profile.values, "aws_secret_access_key"),
                    .token = value_of(profile.values, "aws_session_token")};
    if (!keys.id.empty()) {
        TRY_ASSIGN(source, checked(keys, name));
        return std::optional(std::move(source));
    }
    for (const std::string_view way : kRefusedWays) {
        if (value_of(profile.values, way).empty()) continue;
        return invalid(name + " gets its keys by " + std::string(way) + ", which Baton cannot",
                       "put keys into the environment: aws configure export-credentials");
    }
    const std::string token_file = value_of(profile.values, "web_identity_token_file");
    const std::string role = value_of(profile.values, "role_arn");
    if (!token_file.empty() && !role.empty()) {
        TRY_ASSIGN(source, web_identity(input, token_file, role));
        return std::optional(std::move(source));
    }
    if (profile.demanded) {
        return missing(name + " has no aws_access_key_id",
                       "add its keys to ~/.aws/credentials, or unset AWS_PROFILE");
    }
    return std::optional<CredentialSource>();
}

// Plain HTTP carries keys only within the machine, or to the addresses of ECS and EKS.
bool may_ask(std::string_view url) {
    if (url.starts_with("https://")) return true;
    constexpr std::string_view kPlain = "http://";
    if (!url.starts_with(kPlain)) return false;
    url.remove_prefix(kPlain.size());
    std::string_view host = url.substr(0, url.find_first_of("/?#"));
    if (host.find('@') != std::string_view::npos) return false;
    const std::size_t colon = host.rfind(':');
    const bool has_port = colon != std::string_view::npos && host.find(']', colon) == host.npos;
    if (has_port) host = host.substr(0, colon);
    constexpr std::array<std::string_view, 6> kHosts = {
        "localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
    return std::find(kHosts.begin(), kHosts.end(), host) != kHosts.end();
}

Result<CredentialSource> of_container(const Environment& environment) {
    ContainerEndpoint container{
        .url = value_of(environment, "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        .token = value_of(environment, "AWS_CONTAINER_AUTHORIZATION_TOKEN"),
        .token_file = value_of(environment, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")};
    const std::string relative = value_of(environment, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    if (!relative.empty()) {
        if (relative.front() != '/') {
            return invalid("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with a slash",
                           "correct the variable");
        }
        container.url = "http://169.254.170.2" + relative;
    }
    if (!may_ask(container.url)) {
        return invalid(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI is plain HTTP to another machine, or no URL",
            "use https, or an address of this machine");
    }
    return CredentialSource(std::move(container));
}

Result<TemporaryKeys> temporary(Keys keys, std::string_view expiration) {
    if (!is_usable(keys)) {
        return Error{.code = ErrorCode::malformed_message,
                     .message = "the answer has no keys that can be used"};
    }
    TemporaryKeys answer{.keys = std::move(keys), .expires = std::nullopt};
    if (expiration.empty()) return answer;
    answer.expires = time_of_document(expiration);
    if (!answer.expires) {
        return Error{.code = ErrorCode::malformed_message,
                     .message = "the keys in the answer expire at no time that can be read"};
    }
    return answer;
}

}  // namespace

bool is_credential_variable(std::string_view name) {
    return name == kMetadataEndpoint ||
           std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end();
}

bool is_usable(const Keys& keys) {
    const auto printable = [](std::string_view text, std::size_t size_max) {
        return text.size() <= size_max &&
               std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
    };
    return !keys.id.empty() && !keys.secret.empty() && printable(keys.id, 256) &&
           keys.id.find_first_of("/,=") == std::string::npos && printable(keys.secret, 1'024) &&
           printable(keys.token, 16'384);
}

bool is_region(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    });
}

CredentialFiles credential_files(const std::map<std::string, std::string>& environment) {
    const std::string home = value_of(environment, "HOME");
    CredentialFiles files{.credentials = value_of(environment, "AWS_SHARED_CREDENTIALS_FILE"),
                          .config = value_of(environment, "AWS_CONFIG_FILE")};
    if (files.credentials.empty() && !home.empty()) files.credentials = home + "/.aws/credentials";
    if (files.config.empty() && !home.empty()) files.config = home + "/.aws/config";
    return files;
}

Result<CredentialSource> choose_credentials(const CredentialInput& input) {
    if (input.of_url) return checked(*input.of_url, "the URL");
    const Environment& environment = input.environment;
    const auto is_set = [&](std::string_view name) { return !value_of(environment, name).empty(); };
    if (is_set("AWS_ACCESS_KEY_ID") || is_set("AWS_SECRET_ACCESS_KEY")) {
        const Keys keys{.id = value_of(environment, "AWS_ACCESS_KEY_ID"),
                        .secret = value_of(environment, "AWS_SECRET_ACCESS_KEY"),
                        .token = value_of(environment, "AWS_SESSION_TOKEN")};
        if (keys.id.empty() || keys.secret.empty()) {
            const std::string set = keys.id.empty() ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID";
            return missing(set + " is set alone",
                           "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
                           "belong together");
        }
        return checked(keys, "AWS_ACCESS_KEY_ID");
    }
    TRY_ASSIGN(profile, of_profile(input));
    if (profile) return *profile;
    if (is_set("AWS_WEB_IDENTITY_TOKEN_FILE")) {
        if (!is_set("AWS_ROLE_ARN")) {
            return missing("AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN",
                           "set AWS_ROLE_ARN to the role that the token is for");
        }
        return web_identity(input, value_of(environment, "AWS_WEB_IDENTITY_TOKEN_FILE"),
                            value_of(environment, "AWS_ROLE_ARN"));
    }
    if (is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") ||
        is_set("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
        return of_container(environment);
    }
    if (equal_ignoring_case(value_of(environment, "AWS_EC2_METADATA_DISABLED"), "true")) {
        return missing("there are no credentials for the bucket",
                       "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or see docs/STORES.md");
    }
    std::string endpoint = value_of(environment, kMetadataEndpoint);
    if (endpoint.empty()) endpoint = "http://169.254.169.254";
    while (endpoint.ends_with('/')) endpoint.pop_back();
    return CredentialSource(MachineMetadata{std::move(endpoint)});
}

Result<std::string> choose_region(const CredentialInput& input) {
    std::string region = input.region_of_url;
    std::string from = "the URL";
    for (const char* const name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
        if (!region.empty()) break;
        region = value_of(input.environment, name);
        from = name;
    }
    if (region.empty()) {
        const NamedProfile profile = profile_of(input);
        region = value_of(profile.values, "region");
        from = "profile " + in_quotes(profile.name);
    }
    if (!region.empty() && !is_region(region)) {
        return invalid("the region of " + from + " is no name of a region",
                       "a region is a word such as eu-west-1");
    }
    return region;
}

std::string name_of(const CredentialSource& source) {
    return std::visit(Overload{[](const FixedKeys& fixed) { return fixed.from; },
                               [](const WebIdentity& web) { return "STS at " + web.endpoint; },
                               [](const ContainerEndpoint&) {
                                   return std::string("the container's credential endpoint");
                               },
                               [](const MachineMetadata& machine) {
                                   return "the metadata service at " + machine.endpoint;
                               }},
                      source);
}

Result<TemporaryKeys> read_json_keys(std::string_view body) {
    constexpr json::Limits kLimits{
        .bytes = 64 << 10, .depth = 8, .damaged = ErrorCode::malformed_message};
    TRY_ASSIGN(value, json::parse(body, kLimits));
    const auto text = [&](std::string_view key) {
        const json::Value* found = json::find(value, key);
        const auto* string = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
        return string == nullptr ? std::string() : *string;
    };
    return temporary(
        {.id = text("AccessKeyId"), .secret = text("SecretAccessKey"), .token = text("Token")},
        text("Expiration"));
}

Result<TemporaryKeys> read_role_keys(std::string_view body) {
    TRY_ASSIGN(root, read_xml(body));
    const Element* result = root.child("AssumeRoleWithWebIdentityResult");
    const Element* keys = result == nullptr ? nullptr : result->child("Credentials");
    if (keys == nullptr) {
        return Error{.code = ErrorCode::malformed_message,
                     .message = "the answer has no credentials"};
    }
    return temporary({.id = std::string(keys->text_of("AccessKeyId")),
                      .secret = std::string(keys->text_of("SecretAccessKey")),
                      .token = std::string(keys->text_of("SessionToken"))},
                     keys->text_of("Expiration"));
}

}  // namespace baton::s3
