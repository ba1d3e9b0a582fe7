// The messages of HTTP, as values: a request as it was read, a response as it will be written.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
    std::string method;  // "GET"
    std::string target;  // "/v1/queries?limit=3"
    Headers headers;     // names in lower case
    std::string body;

    std::string id;    // "5f3a-17", of the request; none yet: it gets one
    std::string peer;  // "127.0.0.1:54321"

    // Null if it was not given; the first if it was given twice.
    [[nodiscard]] const std::string* header(std::string_view name) const {
        for (const auto& [known, value] : headers) {
            if (known == name) return &value;
        }
        return nullptr;
    }
};

struct Response {
    unsigned status = 200;
    std::string content_type = "application/json";  // empty: there is no body
    Headers headers;
    std::string body;

    friend bool operator==(const Response&, const Response&) = default;
};

}  // namespace baton::http
