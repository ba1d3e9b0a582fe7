#include "engine/formats/json_decoder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "engine/formats/json_object.h"
#include "engine/formats/options.h"

namespace baton::formats {

JsonDecoder::JsonDecoder(const DecoderSetup& setup)
    : tuple_(text_or(setup.format, "TUPLE_DELIMITER", "\n")),
      blocks_(setup.block_bytes == 0 ? Blocks::kBytes : setup.block_bytes),
      records_(setup.schema, setup.wanted, setup.format),
      reader_(std::make_unique<JsonObjectReader>(setup.schema, setup.wanted)) {
    CHECK(!tuple_.empty());
    cells_.resize(setup.wanted.size());
}

JsonDecoder::~JsonDecoder() = default;

void JsonDecoder::lost() {
    blocks_.decoded_to(blocks_.end());
    record_begin_ = scanned_ = blocks_.end();
}

Result<Done> JsonDecoder::end() {
    ended_ = true;
    return Done{};
}

Result<bool> JsonDecoder::next(engine::Batch& into) {
    while (true) {
        if (records_.error()) return *records_.error();
        if (moves_ != blocks_.moves()) {
            moves_ = blocks_.moves();
            scanned_ = record_begin_ = blocks_.begin();
        }
        line_of_.clear();
        split();
        if (ended_ && !records_.full() && record_begin_ < blocks_.end()) {
            take(record_begin_, blocks_.end());
            record_begin_ = blocks_.end();
        }
        const bool none = records_.rows() == 0;
        const bool some =
            !none && records_.deliver(into, blocks_.holder(),
                                      [this](std::size_t begin) { return place_of(begin); });
        blocks_.decoded_to(record_begin_);
        if (some) return true;
        if (none) return false;
    }
}

void JsonDecoder::split() {
    const std::string_view text(blocks_.data(), blocks_.end());
    while (!records_.full()) {
        const std::size_t at =
            tuple_.size() == 1 ? text.find(tuple_[0], scanned_) : text.find(tuple_, scanned_);
        if (at == std::string_view::npos) {
            const std::size_t unsure = std::min(tuple_.size() - 1, text.size() - record_begin_);
            scanned_ = std::max(scanned_, text.size() - unsure);
            return;
        }
        take(record_begin_, at);
        record_begin_ = scanned_ = at + tuple_.size();
    }
}

// A record without its delimiter.
void JsonDecoder::take(std::size_t begin, std::size_t end) {
    lines_ += 1;
    const std::span<char> text(blocks_.data() + begin, end - begin);
    const std::string_view view(text.data(), text.size());
    if (view.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
    std::fill(cells_.begin(), cells_.end(), Cell{.kind = Cell::Kind::absent});
    std::string fault = reader_->read(text, cells_);
    Cell* const row = records_.add_row(begin);
    for (std::size_t i = 0; i < cells_.size(); ++i) row[i * engine::kBatchRows] = cells_[i];
    line_of_.emplace_back(begin, lines_);
    if (!fault.empty()) records_.fault(records_.rows() - 1, std::move(fault));
}

std::string JsonDecoder::place_of(std::size_t begin) const {
    const auto found = std::find_if(line_of_.begin(), line_of_.end(),
                                    [&](const auto& line) { return line.first == begin; });
    CHECK(found != line_of_.end());
    return (tuple_.back() == '\n' ? "line " : "record ") + std::to_string(found->second);
}

}  // namespace baton::formats
