#include "doors/http/idempotency.h"

namespace baton::http {

namespace {

std::size_t size_of(const Response& response) {
    return response.body.size();
}

}  // namespace

void Idempotency::forget(Book& book, std::list<Entry>::iterator entry) {
    if (entry->answer) book.bytes -= size_of(*entry->answer);
    book.by_key.erase(entry->key);
    book.entries.erase(entry);
}

// What is under way is not forgotten: it would be done twice.
void Idempotency::trim(Book& book, Instant now) const {
    for (auto entry = book.entries.begin(); entry != book.entries.end();) {
        const auto oldest = entry++;
        const bool too_old = now - oldest->since >= options_.kept;
        const bool too_much =
            book.entries.size() > options_.answers_max || book.bytes > options_.bytes_max;
        if (!too_old && !too_much) return;
        if (oldest->answer) forget(book, oldest);
    }
}

Idempotency::Verdict Idempotency::begin(Instant now, const std::string& who, const std::string& key,
                                        const std::string& request) {
    const std::lock_guard lock(mutex_);
    Book& book = books_[who];
    trim(book, now);
    if (const auto known = book.by_key.find(key); known != book.by_key.end()) {
        const Entry& entry = *known->second;
        if (entry.request != request) return Misused{};
        if (!entry.answer) return Underway{};
        return *entry.answer;
    }
    book.entries.push_back({.key = key, .request = request, .since = now, .answer = {}});
    book.by_key.emplace(key, std::prev(book.entries.end()));
    return Go{};
}

void Idempotency::finish(const std::string& who, const std::string& key,
                         std::optional<Response> answer) {
    const std::lock_guard lock(mutex_);
    Book& book = books_[who];
    const auto known = book.by_key.find(key);
    if (known == book.by_key.end()) return;
    if (!answer) {
        forget(book, known->second);
        return;
    }
    book.bytes += size_of(*answer);
    known->second->answer = std::move(answer);
    trim(book, known->second->since);
}

}  // namespace baton::http
