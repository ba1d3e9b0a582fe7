#include "doors/pg/server/stream.h"

#include <algorithm>

#include "doors/pg/server/rows.h"

namespace baton::pgserver {

using pgwire::connection::CopyCame;
using pgwire::connection::RowsCame;

namespace {

constexpr std::size_t kPortionBytes = 65'536;

}  // namespace

Result<pgwire::connection::Event> Stream::take(std::size_t most) {
    if (copy) {
        CopyCame came;
        std::size_t bytes = 0;
        while (!rows.empty() && bytes < kPortionBytes && came.rows.size() < most) {
            TRY_ASSIGN(line, copy_line(*copy, columns, rows.front()));
            bytes += line.size();
            came.rows.push_back(std::move(line));
            rows.pop_front();
        }
        given += came.rows.size();
        return pgwire::connection::Event(std::move(came));
    }
    pgwire::RowWriter writer(columns, formats);
    std::vector<pgwire::Value> values;
    std::size_t count = 0;
    for (; !rows.empty() && writer.bytes() < kPortionBytes && count < most; ++count) {
        values.clear();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            values.push_back(value_of(rows.front()[i], columns[i].type));
        }
        TRY(writer.append(values));
        rows.pop_front();
    }
    given += count;
    return pgwire::connection::Event(RowsCame{writer.take()});
}

std::size_t Stream::bytes() {
    if (rows.empty()) return 0;
    if (bytes_of_row == 0) {  // once: rows are taken a few at a time
        std::size_t all = 0;
        for (const SqlRow& row : rows) {
            all += sizeof(SqlRow) + row.size() * sizeof(SqlValue);
            for (const SqlValue& value : row) {
                if (const auto* text = std::get_if<std::string>(&value)) all += text->size();
            }
        }
        bytes_of_row = std::max<std::size_t>(all / rows.size(), 1);
    }
    return bytes_of_row * rows.size();
}

std::string Stream::complete_tag(std::size_t count) const {
    if (copy) return "COPY " + std::to_string(count);
    if (tag == "EXPLAIN") return tag;
    return tag + " " + std::to_string(count);
}

}  // namespace baton::pgserver
