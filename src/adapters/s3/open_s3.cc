#include "adapters/s3/open_s3.h"

#include <string_view>
#include <utility>

#include <unistd.h>

#include "adapters/s3/file_text.h"
#include "adapters/s3/requests.h"
#include "adapters/s3/s3_attempts.h"

namespace baton::s3 {

namespace {

constexpr std::size_t kProfileBytesMax = std::size_t{1} << 20U;
constexpr std::string_view kAuthorities = "AWS_CA_BUNDLE";

Result<std::optional<std::string>> text_of(const std::string& path) {
    if (path.empty()) return std::optional<std::string>();
    return read_text_file_if_any(path, kProfileBytesMax);
}

}  // namespace

std::map<std::string, std::string> environment_of_process() {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view name = text.substr(0, equals);
        if (is_credential_variable(name) || name == kAuthorities) {
            variables.emplace(name, text.substr(equals + 1));
        }
    }
    return variables;
}

Result<std::unique_ptr<StoreAttempts>> open_s3(
    S3Settings settings, const std::map<std::string, std::string>& environment,
    const Clock& clock) {
    TRY(check_settings(settings));
    CredentialInput input{.of_url = settings.keys,
                          .environment = environment,
                          .credentials_file = std::nullopt,
                          .config_file = std::nullopt,
                          .region_of_url = settings.region};
    const CredentialFiles files = credential_files(environment);
    TRY_ASSIGN(credentials_file, text_of(files.credentials));
    TRY_ASSIGN(config_file, text_of(files.config));
    input.credentials_file = std::move(credentials_file);
    input.config_file = std::move(config_file);
    TRY_ASSIGN(region, choose_region(input));
    TRY_ASSIGN(source, choose_credentials(input));
    const auto authorities = environment.find(std::string(kAuthorities));
    auto requests = std::make_unique<Requests>(
        std::move(settings), std::move(region), std::move(source),
        authorities == environment.end() ? "" : authorities->second, clock);
    return std::unique_ptr<StoreAttempts>(std::make_unique<S3Attempts>(std::move(requests)));
}

}  // namespace baton::s3
