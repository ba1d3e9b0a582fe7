// Any bytes as the URL of a store, and as a key: the URL that was read can be written and read
// again, and neither the text for people nor an error shows a secret.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/overload.h"
#include "base/utf8.h"
#include "stores/check_key.h"
#include "stores/store_url.h"

using baton::stores::FolderUrl;
using baton::stores::S3Url;

namespace {

bool is_printable(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) return false;
    }
    return baton::is_valid_utf8(text);
}

void check_s3(const S3Url& url) {
    CHECK(!url.bucket.empty());
    CHECK(url.prefix.empty() || baton::stores::check_key(url.prefix).has_value());
    CHECK(url.access_key_id.empty() == url.secret_access_key.empty());
    for (const std::string& part : {url.bucket, url.prefix, url.endpoint, url.region,
                                    url.access_key_id, url.secret_access_key, url.session_token}) {
        CHECK(is_printable(part));
    }
    const std::string shown = baton::stores::shown(baton::stores::StoreUrl(url));
    S3Url without = url;
    without.access_key_id.clear();
    without.secret_access_key.clear();
    without.session_token.clear();
    const auto again = baton::stores::parse_store_url(shown);
    if (shown.size() <= baton::stores::kUrlBytesMax) {
        CHECK(again.has_value());
        CHECK(*again == baton::stores::StoreUrl(without));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto key = baton::stores::check_key(text)) {
        CHECK(!text.empty() && text.size() <= baton::stores::kKeyBytesMax && is_printable(text));
        CHECK(text.front() != '/' && text.back() != '/');
        CHECK(baton::stores::check_prefix(text).has_value());
    } else {
        CHECK(is_printable(key.error().message));
    }
    const auto url = baton::stores::parse_store_url(text);
    if (!url) {
        CHECK(is_printable(url.error().message));
        return 0;
    }
    std::visit(baton::Overload{[](const FolderUrl& folder) { CHECK(is_printable(folder.path)); },
                               [](const S3Url& s3) { check_s3(s3); }},
               *url);
    const std::string whole = baton::stores::whole_text(*url);
    if (whole.size() <= baton::stores::kUrlBytesMax && !text.starts_with("file:")) {
        const auto again = baton::stores::parse_store_url(whole);
        CHECK(again.has_value());
        CHECK(*again == *url);
    }
    return 0;
}
