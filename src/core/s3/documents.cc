#include "core/s3/documents.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "core/s3/encoding.h"
#include "core/s3/xml.h"

namespace baton::s3 {

namespace {

Error malformed(std::string why) {
    return {.code = ErrorCode::malformed_message, .message = std::move(why)};
}

Result<Element> read_root(std::string_view body, std::string_view name) {
    TRY_ASSIGN(root, read_xml(body));
    if (root.name != name) {
        return malformed("the document is not a " + std::string(name));
    }
    return root;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

struct CalendarTime {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

std::optional<WallTime> time_of(const CalendarTime& t, Duration fraction) {
    using namespace std::chrono;  // NOLINT(google-build-using-namespace)
    const year_month_day date{year(t.year), month(t.month), day(t.day)};
    if (!date.ok() || t.year < 1970 || t.hour > 23 || t.minute > 59 || t.second > 60) {
        return std::nullopt;
    }
    const auto since =
        sys_days(date).time_since_epoch() + hours(t.hour) + minutes(t.minute) + seconds(t.second);
    return WallTime(duration_cast<Duration>(since) + fraction);
}

// Digits of a fixed width at a place.
template <class Number>
bool take(std::string_view text, std::size_t at, std::size_t width, Number& to) {
    if (at + width > text.size()) return false;
    const std::string_view digits = text.substr(at, width);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
    const auto value = number_of<Number>(digits);
    if (value) to = *value;
    return value.has_value();
}

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

Result<ListedKey> read_listed_key(const Element& entry, bool encoded) {
    const Element* key = entry.child("Key");
    if (key == nullptr || key->text.empty()) return malformed("an object in the list has no key");
    const auto size = number_of<std::uint64_t>(entry.text_of("Size"));
    if (!size) return malformed("an object in the list has no size");
    const auto modified = time_of_document(entry.text_of("LastModified"));
    if (!modified) return malformed("an object in the list has no time");
    const auto name = encoded ? decode_percent(key->text, Plus::is_space) : key->text;
    if (!name) return malformed("a key in the list is not encoded as the list says");
    return ListedKey{.key = *name,
                     .etag = bare_etag(entry.text_of("ETag")),
                     .size = *size,
                     .modified = *modified};
}

StoreError error_in(const Element& element) {
    return {.code = std::string(element.text_of("Code")),
            .message = std::string(element.text_of("Message")),
            .region = std::string(element.text_of("Region"))};
}

}  // namespace

StoreError read_error(std::string_view body) {
    const Result<Element> root = read_xml(body);
    if (!root) return {};
    if (root->name == "Error") return error_in(*root);
    const Element* inner = root->name == "ErrorResponse" ? root->child("Error") : nullptr;
    return inner == nullptr ? StoreError{} : error_in(*inner);
}

Result<Listing> read_listing(std::string_view body) {
    TRY_ASSIGN(root, read_root(body, "ListBucketResult"));
    const std::string_view encoding = root.text_of("EncodingType");
    if (!encoding.empty() && encoding != "url") {
        return malformed("the list is encoded in an unknown way");
    }
    const std::string_view truncated = root.text_of("IsTruncated");
    if (truncated != "true" && truncated != "false") {
        return malformed("the list does not say whether it is whole");
    }
    Listing listing{.keys = {}, .prefixes = {}, .truncated = truncated == "true"};
    for (const Element& child : root.children) {
        if (child.name == "Contents") {
            TRY_ASSIGN(key, read_listed_key(child, !encoding.empty()));
            listing.keys.push_back(std::move(key));
        } else if (child.name == "CommonPrefixes") {
            const std::string prefix(child.text_of("Prefix"));
            const auto name = encoding.empty() ? prefix : decode_percent(prefix, Plus::is_space);
            if (!name || name->empty()) return malformed("a folder in the list has no name");
            listing.prefixes.push_back(*name);
        }
    }
    return listing;
}

Result<std::vector<KeyError>> read_removal(std::string_view body) {
    TRY_ASSIGN(root, read_root(body, "DeleteResult"));
    std::vector<KeyError> errors;
    for (const Element& child : root.children) {
        if (child.name != "Error") continue;
        errors.push_back({.key = std::string(child.text_of("Key")), .error = error_in(child)});
    }
    return errors;
}

std::string removal_of(std::span<const std::string> keys) {
    std::string body = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    body += "<Quiet>true</Quiet>";
    for (const std::string& key : keys) {
        body += "<Object><Key>" + escape_xml(key) + "</Key></Object>";
    }
    return body + "</Delete>";
}

Result<std::string> read_upload_id(std::string_view body) {
    TRY_ASSIGN(root, read_root(body, "InitiateMultipartUploadResult"));
    std::string id(root.text_of("UploadId"));
    if (id.empty()) return malformed("the upload has no id");
    return id;
}

std::string completion_of(std::span<const std::string> etags) {
    std::string body = "<CompleteMultipartUpload>";
    std::size_t number = 0;
    for (const std::string& etag : etags) {
        body += "<Part><PartNumber>" + std::to_string(++number) + "</PartNumber><ETag>&quot;" +
                escape_xml(etag) + "&quot;</ETag></Part>";
    }
    return body + "</CompleteMultipartUpload>";
}

Result<std::string> read_completion(std::string_view body) {
    TRY_ASSIGN(root, read_root(body, "CompleteMultipartUploadResult"));
    return bare_etag(root.text_of("ETag"));
}

std::string bare_etag(std::string_view etag) {
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
        etag.remove_prefix(1);
        etag.remove_suffix(1);
    }
    return std::string(etag);
}

std::optional<WallTime> time_of_document(std::string_view text) {
    CalendarTime t;
    const bool shape = text.size() >= 20 && text[4] == '-' && text[7] == '-' && text[10] == 'T' &&
                       text[13] == ':' && text[16] == ':' && text.back() == 'Z';
    if (!shape || !take(text, 0, 4, t.year) || !take(text, 5, 2, t.month) ||
        !take(text, 8, 2, t.day) || !take(text, 11, 2, t.hour) || !take(text, 14, 2, t.minute) ||
        !take(text, 17, 2, t.second)) {
        return std::nullopt;
    }
    std::string_view rest = text.substr(19, text.size() - 20);
    if (rest.empty()) return time_of(t, {});
    if (rest.front() != '.' || rest.size() < 2 || rest.size() > 10) return std::nullopt;
    std::string digits(rest.substr(1));
    digits.resize(6, '0');
    unsigned micros = 0;
    if (!take(digits, 0, 6, micros)) return std::nullopt;
    return time_of(t, Duration(micros));
}

std::optional<WallTime> time_of_header(std::string_view text) {
    // "Fri, 24 May 2013 00:00:00 GMT"
    CalendarTime t;
    const bool shape = text.size() == 29 && text.substr(3, 2) == ", " && text[7] == ' ' &&
                       text[11] == ' ' && text[16] == ' ' && text[19] == ':' && text[22] == ':' &&
                       text.ends_with(" GMT");
    if (!shape || !take(text, 5, 2, t.day) || !take(text, 12, 4, t.year) ||
        !take(text, 17, 2, t.hour) || !take(text, 20, 2, t.minute) ||
        !take(text, 23, 2, t.second)) {
        return std::nullopt;
    }
    const auto* const month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
    if (month == kMonths.end()) return std::nullopt;
    t.month = static_cast<unsigned>(month - kMonths.begin()) + 1;
    return time_of(t, {});
}

std::string time_for_signature(WallTime time) {
    const std::string text = to_string(time);  // 2013-05-24T00:00:00.000000Z
    return text.substr(0, 4) + text.substr(5, 2) + text.substr(8, 2) + "T" + text.substr(11, 2) +
           text.substr(14, 2) + text.substr(17, 2) + "Z";
}

}  // namespace baton::s3
