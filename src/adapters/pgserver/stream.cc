#include "adapters/pgserver/stream.h"

#include "adapters/pgserver/rows.h"

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

std::string Stream::complete_tag(std::size_t count) const {
    if (copy) return "COPY " + std::to_string(count);
    if (tag == "EXPLAIN") return tag;
    return tag + " " + std::to_string(count);
}

}  // namespace baton::pgserver
