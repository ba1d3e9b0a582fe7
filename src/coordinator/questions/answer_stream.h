// AnswerStream gives the rows of an answer that does not fit into its first portion. The rows are
// computed on the threads of questions, some portions ahead of the client: the question's place in
// the engine is free as soon as all rows are computed, or wait.
#pragma once

#include <memory>
#include <string>

#include "coordinator/questions/questions.h"
#include "coordinator/rows/row_stream.h"

namespace baton::coordinator {

class AnswerStream final : public RowStream {
public:
    // The lane outlives it.
    AnswerStream(FirstRows first, threads::Lane& lane, std::string user);
    ~AnswerStream() override;
    AnswerStream(const AnswerStream&) = delete;
    AnswerStream& operator=(const AnswerStream&) = delete;

    [[nodiscard]] const std::vector<views::TableColumn>& columns() const override {
        return columns_;
    }
    using RowStream::next;
    using RowStream::poll;
    [[nodiscard]] Result<FedRows> poll(std::size_t most) override;
    [[nodiscard]] Result<FedRows> next(Duration timeout, std::size_t most) override;
    void interrupt() override;
    void wake_with(std::function<void()> wake) override;

private:
    struct Shared;
    void fetch_more();
    static void fetch(const std::shared_ptr<Shared>& shared, bool may);

    const std::vector<views::TableColumn> columns_;
    threads::Lane& lane_;
    const std::string user_;
    const std::shared_ptr<Shared> shared_;
};

}  // namespace baton::coordinator
