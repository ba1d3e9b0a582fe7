#include "adapters/s3/signer.h"

#include <algorithm>

#include "adapters/system/digest.h"
#include "base/one_line.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"

namespace baton::s3 {

std::string canonical_query(const std::vector<std::pair<std::string, std::string>>& query) {
    std::vector<std::pair<std::string, std::string>> encoded;
    encoded.reserve(query.size());
    for (const auto& [name, value] : query) {
        encoded.emplace_back(encode_query(name), encode_query(value));
    }
    std::sort(encoded.begin(), encoded.end());
    std::string text;
    for (const auto& [name, value] : encoded) {
        if (!text.empty()) text += '&';
        text += name;
        text += '=';
        text += value;
    }
    return text;
}

std::vector<HttpHeader> sign(const UnsignedRequest& request, const Keys& keys,
                             const SigningScope& scope, WallTime now) {
    const std::string time = time_for_signature(now);
    const std::string day = time.substr(0, 8);
    std::vector<HttpHeader> headers = request.headers;
    headers.push_back({"host", request.host});
    headers.push_back({"x-amz-content-sha256", request.payload_sha256});
    headers.push_back({"x-amz-date", time});
    if (!keys.token.empty()) headers.push_back({"x-amz-security-token", keys.token});
    std::sort(headers.begin(), headers.end(),
              [](const HttpHeader& a, const HttpHeader& b) { return a.name < b.name; });

    std::string canonical =
        request.method + "\n" + request.path + "\n" + canonical_query(request.query) + "\n";
    std::string names;
    for (const HttpHeader& header : headers) {
        canonical += header.name + ":" + one_line(header.value) + "\n";
        if (!names.empty()) names += ';';
        names += header.name;
    }
    canonical += "\n" + names + "\n" + request.payload_sha256;

    const std::string place = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
    const std::string to_sign =
        "AWS4-HMAC-SHA256\n" + time + "\n" + place + "\n" + system::sha256_hex(canonical);
    std::string key = system::hmac_sha256("AWS4" + keys.secret, day);
    for (const std::string_view part :
         {std::string_view(scope.region), std::string_view(scope.service),
          std::string_view("aws4_request")}) {
        key = system::hmac_sha256(key, part);
    }
    std::erase_if(headers, [](const HttpHeader& header) { return header.name == "host"; });
    headers.push_back({"authorization", "AWS4-HMAC-SHA256 Credential=" + keys.id + "/" + place +
                                            ",SignedHeaders=" + names +
                                            ",Signature=" + system::hmac_sha256_hex(key, to_sign)});
    return headers;
}

}  // namespace baton::s3
