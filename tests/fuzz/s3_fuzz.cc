// Any bytes as an answer of a store or a source of credentials: each reader answers, or says why
// not without showing the bytes. The first byte chooses the reader.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "core/s3/credential_choice.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"
#include "core/s3/profiles.h"
#include "core/s3/xml.h"

namespace {

using namespace baton;  // NOLINT(google-build-using-namespace)

std::size_t depth_of(const s3::Element& element) {
    std::size_t depth = 0;
    for (const s3::Element& child : element.children) depth = std::max(depth, depth_of(child));
    return depth + 1;
}

void check_xml(std::string_view text) {
    const auto root = s3::read_xml(text);
    if (!root) {
        CHECK(root.error().message.size() < 200);
        return;
    }
    CHECK(depth_of(*root) <= s3::XmlLimits().depth);
    CHECK(is_valid_utf8(root->text));
    const auto again = s3::read_xml("<a>" + s3::escape_xml(root->text) + "</a>");
    CHECK(again && again->text == root->text);
}

void check_listing(std::string_view text) {
    const auto listing = s3::read_listing(text);
    if (!listing) return;
    for (const auto& entry : listing->keys) CHECK(!entry.key.empty());
    for (const auto& prefix : listing->prefixes) CHECK(!prefix.empty());
}

void check_keys(const Result<s3::TemporaryKeys>& keys) {
    if (keys) CHECK(s3::is_usable(keys->keys));
}

void check_profiles(std::string_view text) {
    s3::CredentialInput input;
    input.credentials_file = std::string(text);
    input.config_file = std::string(text);
    const auto source = s3::choose_credentials(input);
    if (source) {
        if (const auto* fixed = std::get_if<s3::FixedKeys>(&*source)) {
            CHECK(s3::is_usable(fixed->keys));
        }
    }
    const auto region = s3::choose_region(input);
    CHECK(!region || region->empty() || s3::is_region(*region));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 8) {
        case 0:
            check_xml(text);
            break;
        case 1:
            check_listing(text);
            break;
        case 2:
            (void)s3::read_error(text);
            (void)s3::read_removal(text);
            break;
        case 3:
            (void)s3::read_upload_id(text);
            (void)s3::read_completion(text);
            break;
        case 4:
            check_keys(s3::read_json_keys(text));
            check_keys(s3::read_role_keys(text));
            break;
        case 5:
            check_profiles(text);
            break;
        case 6:
            (void)s3::time_of_document(text);
            (void)s3::time_of_header(text);
            break;
        default:
            CHECK(s3::decode_percent(s3::encode_query(text), s3::Plus::is_space) == text);
            (void)s3::decode_percent(text, s3::Plus::is_plus);
    }
    return 0;
}
