// CopyReader reads the rows that COPY .. FROM STDIN sends, in PostgreSQL's text, CSV and binary
// forms.
//
// Input:   bytes as they come, cut anywhere.
// Output:  rows of literals, each as long as the columns; or an error that names the line.
//
// A value that does not fit its column is found here where that is simple; the others are found
// when the rows are added. The memory of the rows is bounded. Pure: no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doors/pg/server/statements.h"
#include "model/table.h"
#include "sql/ast.h"

namespace baton::pgserver {

constexpr std::size_t kCopiedMemoryMax = std::size_t{128} << 20U;

class CopyReader {
public:
    using Row = std::vector<sql::Literal>;

    // The columns that the rows have, in their order.
    CopyReader(CopyFormat format, SqlColumns columns);

    [[nodiscard]] Result<Done> feed(std::string_view bytes);
    // All has come.
    [[nodiscard]] Result<Done> finish();
    [[nodiscard]] std::size_t count() const { return rows_.size(); }
    [[nodiscard]] std::vector<Row> take() { return std::move(rows_); }

private:
    // Takes whole lines off the buffer; `last`: the rest is a line, too.
    [[nodiscard]] Result<Done> read_lines(bool last);
    // The end of the line that begins at `from`; none if it has not come.
    [[nodiscard]] std::optional<std::size_t> line_end(std::size_t from);
    [[nodiscard]] Result<Done> read_line(std::string_view line);
    [[nodiscard]] Result<Done> read_text(std::string_view line);
    [[nodiscard]] Result<Done> read_csv(std::string_view line);
    [[nodiscard]] Result<Done> read_binary();
    // Takes a header, or a row, off the bytes; 0: more are needed.
    [[nodiscard]] Result<std::size_t> read_tuple(std::string_view bytes);
    [[nodiscard]] Result<Done> add_text(Row& row, std::string text);
    [[nodiscard]] Result<Done> add_row(Row row);
    [[nodiscard]] Error failed(std::string why) const;
    [[nodiscard]] Error placed(Error error) const;

    const CopyFormat format_;
    const SqlColumns columns_;
    std::string buffer_;
    std::size_t scanned_ = 0;  // of the line that has not ended
    bool in_quotes_ = false;   // there
    bool ended_ = false;       // by "\." or the trailer
    bool begun_ = false;       // the header has come
    std::uint64_t line_ = 1;
    std::size_t memory_ = 0;
    std::vector<Row> rows_;
};

}  // namespace baton::pgserver
