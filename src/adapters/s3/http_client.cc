#include "adapters/s3/http_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/one_line.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton::s3 {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr std::size_t kHeaderBytesMax = std::size_t{64} << 10U;
constexpr std::size_t kErrorBytesMax = std::size_t{64} << 10U;
constexpr std::uint64_t kAskFirstFrom = 1ULL << 20U;
constexpr Duration kLookAround = std::chrono::milliseconds(50);
constexpr Duration kLookAroundCalmly = std::chrono::milliseconds(200);

template <class T>
void set(CURL* curl, CURLoption option, T value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    CHECK(code == CURLE_OK);
}

// One exchange, as the callbacks of libcurl see it.
struct Transfer {
    CURL* curl = nullptr;
    const HttpRequest& request;
    HttpAnswer answer;
    std::size_t header_bytes = 0;
    std::uint64_t sent = 0;      // of the body
    bool headers_ended = false;  // their empty line has come
    bool headers_too_long = false;
    bool body_too_long = false;
    bool file_failed = false;
};

std::uint64_t size_of(const HttpRequest& request) {
    if (const auto* text = std::get_if<std::string_view>(&request.body)) return text->size();
    if (const auto* slice = std::get_if<FileSlice>(&request.body)) return slice->size;
    return 0;
}

std::size_t on_read(char* to, std::size_t unit, std::size_t count, void* given) {
    auto& transfer = *static_cast<Transfer*>(given);
    const std::uint64_t left = size_of(transfer.request) - transfer.sent;
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(unit * count, left));
    if (room == 0) return 0;
    std::size_t got = room;
    if (const auto* text = std::get_if<std::string_view>(&transfer.request.body)) {
        std::memcpy(to, text->data() + transfer.sent, room);
    } else {
        const auto& slice = std::get<FileSlice>(transfer.request.body);
        const auto place = static_cast<off_t>(slice.offset + transfer.sent);
        const ssize_t read = ::pread(slice.file, to, room, place);
        if (read <= 0) {
            transfer.file_failed = true;
            return CURL_READFUNC_ABORT;
        }
        got = static_cast<std::size_t>(read);
    }
    transfer.sent += got;
    return got;
}

// Asked for where libcurl would send a body again.
int on_seek(void* /*given*/, curl_off_t /*offset*/, int /*origin*/) {
    return CURL_SEEKFUNC_FAIL;
}

long status_of(CURL* curl) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

std::string_view without_space(std::string_view value) {
    constexpr std::string_view kSpace = " \t\r\n";
    value.remove_prefix(std::min(value.find_first_not_of(kSpace), value.size()));
    return value.substr(0, value.find_last_not_of(kSpace) + 1);
}

std::size_t on_header(char* bytes, std::size_t unit, std::size_t count, void* given) {
    auto& transfer = *static_cast<Transfer*>(given);
    const std::size_t size = unit * count;
    transfer.header_bytes += size;
    if (transfer.header_bytes > kHeaderBytesMax) {
        transfer.headers_too_long = true;
        return 0;
    }
    const std::string_view line(bytes, size);
    if (line.starts_with("HTTP/")) transfer.answer.headers.clear();  // those of "100 Continue"
    transfer.headers_ended = line == "\r\n" || line == "\n";
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
        transfer.answer.headers.push_back(
            {to_lower(line.substr(0, colon)), std::string(without_space(line.substr(colon + 1)))});
    }
    return size;
}

std::size_t on_body(char* bytes, std::size_t unit, std::size_t count, void* given) {
    auto& transfer = *static_cast<Transfer*>(given);
    const std::size_t size = unit * count;
    const bool success = status_of(transfer.curl) / 100 == 2;
    const std::uint64_t most = success ? transfer.request.body_max : kErrorBytesMax;
    std::string& body = transfer.answer.body;
    if (body.empty()) {
        curl_off_t announced = 0;
        curl_easy_getinfo(transfer.curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
        if (announced > 0) {
            body.reserve(std::min<std::uint64_t>(static_cast<std::uint64_t>(announced), most));
        }
    }
    if (size > most - body.size()) {
        transfer.body_too_long = true;
        return 0;
    }
    body.append(bytes, size);
    return size;
}

// Programs that this process starts do not inherit connections.
curl_socket_t on_open(void* /*given*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
    return ::socket(address->family, static_cast<int>(address->socktype) | SOCK_CLOEXEC,
                    address->protocol);
}

struct ListEnd {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListEnd>;

HeaderList list_of(const HttpRequest& request) {
    HeaderList list;
    const auto add = [&](const std::string& line) {
        curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
        CHECK(longer != nullptr);
        (void)list.release();
        list.reset(longer);
    };
    for (const HttpHeader& header : request.headers) {
        // A semicolon is how libcurl sends a header without a value.
        add(header.name + (header.value.empty() ? std::string(";") : ": " + header.value));
    }
    // To ask before a body is sent costs a round trip, which only a large one is worth; and some
    // stores leave the question unanswered where they do not expect it.
    if (request.method != "PUT" || size_of(request) < kAskFirstFrom) add("expect:");
    return list;
}

// Sees a transfer that stands still: seconds with fewer bytes than there must be, one after
// another.
class Silence {
public:
    Silence(Duration most, SteadyTime now)
        : most_(most),
          step_(std::clamp<Duration>(most / 5, std::chrono::milliseconds(1),
                                     std::chrono::seconds(1))),
          mark_(now) {}

    // `bytes` went over the line so far, in both directions.
    [[nodiscard]] bool lasts_too_long(std::uint64_t bytes, SteadyTime now) {
        const auto since = std::chrono::duration_cast<Duration>(now - mark_);
        if (since < step_) return false;
        const auto least =
            AttemptCall::kBytesPerSecondMin * static_cast<std::uint64_t>(since.count()) / 1'000'000;
        slow_ =
            bytes - bytes_ < std::max<std::uint64_t>(least, 1) ? slow_ + since : Duration::zero();
        bytes_ = bytes;
        mark_ = now;
        return slow_ >= most_;
    }

private:
    const Duration most_;
    const Duration step_;
    SteadyTime mark_;
    std::uint64_t bytes_ = 0;
    Duration slow_ = Duration::zero();
};

std::uint64_t bytes_over(CURL* curl, const Transfer& transfer) {
    curl_off_t down = 0;
    curl_off_t up = 0;
    curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &down);
    curl_easy_getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &up);
    return static_cast<std::uint64_t>(down) + static_cast<std::uint64_t>(up) +
           transfer.header_bytes;
}

// libcurl takes the end of a connection for the end of a header, or of a body that does not say
// how long it is.
bool is_whole(const Transfer& transfer) {
    if (!transfer.headers_ended) return false;
    const HttpAnswer& answer = transfer.answer;
    const bool says_length =
        !answer.header("content-length").empty() || !answer.header("transfer-encoding").empty();
    const bool has_body = transfer.request.method != "HEAD" && answer.status != 204;
    return says_length || !has_body || answer.status / 100 != 2;
}

bool was_sent(CURL* curl) {
    long size = 0;
    curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &size);
    return size > 0;
}

AttemptFailure failed(AttemptTrouble trouble, std::string why, std::string hint = "") {
    return {.trouble = trouble, .why = std::move(why), .hint = std::move(hint)};
}

// The words of libcurl, which hold hosts and reasons, on one line of printable bytes.
std::string words_of(CURLcode code, const char* details) {
    std::string text = one_line(*details == '\0' ? curl_easy_strerror(code) : details);
    text.resize(std::min<std::size_t>(text.size(), 240));
    if (!is_valid_utf8(text)) return curl_easy_strerror(code);
    return text;
}

AttemptFailure failure_of(CURLcode code, const char* details, bool sent) {
    const std::string words = words_of(code, details);
    const bool is_untrusted = code == CURLE_PEER_FAILED_VERIFICATION ||
                              code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_ISSUER_ERROR;
    if (is_untrusted) {
        return failed(AttemptTrouble::refused, "its certificate is not trusted: " + words,
                      "set AWS_CA_BUNDLE to a file with the authority's certificate");
    }
    if (code == CURLE_SSL_CONNECT_ERROR) {
        return failed(AttemptTrouble::not_sent, "no TLS connection: " + words,
                      "see whether the endpoint speaks TLS, or is http://");
    }
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
        return failed(AttemptTrouble::refused, "no URL: " + words);
    }
    return failed(sent ? AttemptTrouble::unknown : AttemptTrouble::not_sent, words);
}

}  // namespace

std::string_view HttpAnswer::header(std::string_view name) const {
    const auto found = std::find_if(headers.begin(), headers.end(),
                                    [&](const HttpHeader& header) { return header.name == name; });
    return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

class HttpClient::Line {
public:
    Line() : multi_(curl_multi_init()), curl_(curl_easy_init()) {
        CHECK(multi_ != nullptr && curl_ != nullptr);
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 2L);
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line() {
        curl_easy_cleanup(curl_);
        curl_multi_cleanup(multi_);
    }

    HttpOutcome exchange(const HttpRequest& request, const AttemptCall& call,
                         const std::string& authorities) {
        Transfer transfer{.curl = curl_, .request = request, .answer = {}};
        const HeaderList headers = list_of(request);
        details_[0] = '\0';
        prepare(transfer, headers.get(), call, authorities);
        CHECK(curl_multi_add_handle(multi_, curl_) == CURLM_OK);
        std::optional<AttemptFailure> ended = run(transfer, call);
        CURLcode code = CURLE_OK;
        int left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
            if (message->msg == CURLMSG_DONE) code = message->data.result;
        }
        HttpOutcome outcome = outcome_of(transfer, code, std::move(ended));
        curl_multi_remove_handle(multi_, curl_);
        return outcome;
    }

private:
    void prepare(Transfer& transfer, curl_slist* headers, const AttemptCall& call,
                 const std::string& authorities) {
        const HttpRequest& request = transfer.request;
        curl_easy_reset(curl_);  // keeps the connections
        set(curl_, CURLOPT_URL, request.url.c_str());
        set(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
        set(curl_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(curl_, CURLOPT_PATH_AS_IS, 1L);
        set(curl_, CURLOPT_NOSIGNAL, 1L);
        set(curl_, CURLOPT_FOLLOWLOCATION, 0L);
        set(curl_, CURLOPT_SSL_VERIFYPEER, 1L);
        set(curl_, CURLOPT_SSL_VERIFYHOST, 2L);
        set(curl_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        set(curl_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        set(curl_, CURLOPT_ERRORBUFFER, details_.data());
        set(curl_, CURLOPT_OPENSOCKETFUNCTION, &on_open);
        set(curl_, CURLOPT_HTTPHEADER, headers);
        set(curl_, CURLOPT_CONNECTTIMEOUT_MS, milliseconds_of(call.connect_max));
        set(curl_, CURLOPT_TIMEOUT_MS, milliseconds_of(call.time_max));
        if (!authorities.empty()) set(curl_, CURLOPT_CAINFO, authorities.c_str());
        if (!request.through_proxy) set(curl_, CURLOPT_PROXY, "");
        if (request.once) set(curl_, CURLOPT_FRESH_CONNECT, 1L);
        set(curl_, CURLOPT_HEADERFUNCTION, &on_header);
        set(curl_, CURLOPT_HEADERDATA, &transfer);
        set(curl_, CURLOPT_WRITEFUNCTION, &on_body);
        set(curl_, CURLOPT_WRITEDATA, &transfer);
        if (request.method == "HEAD") {
            set(curl_, CURLOPT_NOBODY, 1L);
        } else if (!std::holds_alternative<std::monostate>(request.body)) {
            const std::uint64_t size = size_of(request);
            set(curl_, CURLOPT_UPLOAD, 1L);
            set(curl_, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(size));
            set(curl_, CURLOPT_READFUNCTION, &on_read);
            set(curl_, CURLOPT_READDATA, &transfer);
            set(curl_, CURLOPT_SEEKFUNCTION, &on_seek);
            // Without bytes of a body libcurl cannot see that it would repeat one.
            if (size == 0) set(curl_, CURLOPT_FRESH_CONNECT, 1L);
        }
        if (request.method != "HEAD") set(curl_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }

    static long milliseconds_of(Duration time) {
        const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(time).count();
        return static_cast<long>(std::clamp<std::int64_t>(rounded, 1, 1'000'000'000));
    }

    // Returns a reason if the transfer did not come to its own end.
    std::optional<AttemptFailure> run(const Transfer& transfer, const AttemptCall& call) {
        SteadyTime now = std::chrono::steady_clock::now();
        Silence silence(call.silence_max, now);
        SteadyTime asked = now - kLookAround;
        const Duration calm = call.given_up ? kLookAround : kLookAroundCalmly;
        const auto wait = std::chrono::ceil<std::chrono::milliseconds>(
            std::min(calm, std::max<Duration>(call.silence_max / 5, Duration(1'000))));
        while (true) {
            int running = 0;
            if (call.given_up && now - asked >= kLookAround) {
                if (call.given_up()) {
                    return failed(AttemptTrouble::given_up, "the caller gave up");
                }
                asked = now;
            }
            if (curl_multi_perform(multi_, &running) != CURLM_OK) {
                return failed(AttemptTrouble::unknown, "libcurl failed");
            }
            if (running == 0) return std::nullopt;
            if (curl_multi_poll(multi_, nullptr, 0, static_cast<int>(wait.count()), nullptr) !=
                CURLM_OK) {
                return failed(AttemptTrouble::unknown, "libcurl failed");
            }
            now = std::chrono::steady_clock::now();
            if (silence.lasts_too_long(bytes_over(curl_, transfer), now)) {
                return failed(was_sent(curl_) ? AttemptTrouble::unknown : AttemptTrouble::not_sent,
                              "silence on the connection");
            }
        }
    }

    HttpOutcome outcome_of(Transfer& transfer, CURLcode code, std::optional<AttemptFailure> ended) {
        HttpAnswer& answer = transfer.answer;
        answer.status = static_cast<int>(status_of(curl_));
        answer.bytes_in = answer.body.size();
        answer.bytes_out = transfer.sent;
        const auto fail = [&](AttemptFailure failure) -> HttpOutcome {
            return HttpFailure{std::move(failure), answer.bytes_in, answer.bytes_out};
        };
        if (ended) return fail(std::move(*ended));
        if (code == CURLE_OK && is_whole(transfer)) return std::move(answer);
        if (code == CURLE_OK) {
            return fail(failed(AttemptTrouble::unknown, "the answer ends too early"));
        }
        if (transfer.headers_too_long) {
            return fail(failed(AttemptTrouble::unknown, "the answer's header does not end"));
        }
        if (transfer.file_failed) {
            return fail(failed(AttemptTrouble::refused, "the file to send cannot be read in full"));
        }
        if (transfer.body_too_long) {
            if (answer.status / 100 == 2) {
                return fail(failed(AttemptTrouble::too_large, "the answer is larger than allowed"));
            }
            answer.body.clear();  // the status says enough
            return std::move(answer);
        }
        return fail(failure_of(code, details_.data(), was_sent(curl_)));
    }

    CURLM* multi_;
    CURL* curl_;
    std::array<char, CURL_ERROR_SIZE> details_{};
};

HttpClient::HttpClient(std::size_t connections_max, std::string authorities)
    : connections_max_(connections_max), authorities_(std::move(authorities)) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(kReady == CURLE_OK);
}

HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Line> HttpClient::take(const AttemptCall& call) {
    const auto deadline = std::chrono::steady_clock::now() + call.time_max;
    std::unique_lock lock(mutex_);
    while (in_use_ >= connections_max_) {
        if (std::chrono::steady_clock::now() >= deadline) return nullptr;
        if (call.given_up && call.given_up()) return nullptr;
        freed_.wait_for(lock, kLookAround);
    }
    ++in_use_;
    if (free_.empty()) return std::make_unique<Line>();
    std::unique_ptr<Line> line = std::move(free_.back());
    free_.pop_back();
    return line;
}

void HttpClient::give_back(std::unique_ptr<Line> line) {
    {
        const std::lock_guard lock(mutex_);
        --in_use_;
        free_.push_back(std::move(line));
    }
    freed_.notify_one();
}

HttpOutcome HttpClient::exchange(const HttpRequest& request, const AttemptCall& call) {
    std::unique_ptr<Line> line = take(call);
    if (!line) {
        const bool gave_up = call.given_up && call.given_up();
        return HttpFailure{
            gave_up ? failed(AttemptTrouble::given_up, "the caller gave up")
                    : failed(AttemptTrouble::not_sent, "all connections to the store are in use")};
    }
    HttpOutcome outcome = line->exchange(request, call, authorities_);
    give_back(std::move(line));
    return outcome;
}

}  // namespace baton::s3
