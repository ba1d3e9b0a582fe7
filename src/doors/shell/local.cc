#include "doors/shell/local.h"

#include <utility>

#include "coordinator/sessions/answer_text.h"
#include "coordinator/sessions/session.h"

namespace baton::shell {

namespace {

class LocalRows final : public ComingRows {
public:
    explicit LocalRows(std::unique_ptr<coordinator::RowStream> feed) : feed_(std::move(feed)) {}
    [[nodiscard]] const std::vector<views::TableColumn>& columns() const override {
        return feed_->columns();
    }
    [[nodiscard]] Result<coordinator::FedRows> next(Duration patience) override {
        return feed_->next(patience);
    }

private:
    std::unique_ptr<coordinator::RowStream> feed_;
};

class LocalEvents final : public ComingEvents {
public:
    explicit LocalEvents(std::unique_ptr<coordinator::Watch> watch) : watch_(std::move(watch)) {}
    [[nodiscard]] std::vector<views::TableColumn> columns() const override {
        return watch_->columns();
    }
    [[nodiscard]] Result<std::vector<coordinator::WatchEvent>> next(Duration patience) override {
        return watch_->next(patience);
    }
    [[nodiscard]] std::optional<Revision> revision() const override { return watch_->revision(); }

private:
    std::unique_ptr<coordinator::Watch> watch_;
};

Reply reply_of(coordinator::StatementResult result) {
    Reply reply{.value = {}, .format = result.format};
    if (auto* table = std::get_if<views::Table>(&result.value)) {
        reply.value = std::move(*table);
    } else if (auto* watch = std::get_if<std::unique_ptr<coordinator::Watch>>(&result.value)) {
        reply.value = std::make_unique<LocalEvents>(std::move(*watch));
    } else if (auto* feed = std::get_if<std::unique_ptr<coordinator::RowStream>>(&result.value)) {
        reply.value = std::make_unique<LocalRows>(std::move(*feed));
    } else {
        reply.value = in_words(result);
    }
    return reply;
}

class Local final : public Counterpart {
public:
    Local(coordinator::CoordinatorRuntime& coordinator, std::string principal, const Wait& wait)
        : coordinator_(coordinator),
          principal_(std::move(principal)),
          wait_(wait),
          session_(coordinator, principal_) {}

    [[nodiscard]] Replies execute(std::string_view text) override {
        session_.interrupt().clear();
        coordinator::Execution execution = session_.execute(text, wait_);
        Replies replies;
        for (coordinator::StatementResult& result : execution.results) {
            replies.done.push_back(reply_of(std::move(result)));
        }
        replies.error = std::move(execution.error);
        return replies;
    }
    [[nodiscard]] bool in_transaction() const override { return session_.in_transaction(); }
    void interrupt() override { session_.interrupt().raise(); }

    [[nodiscard]] Result<views::Table> look(std::string_view question) override {
        coordinator::Session beside(coordinator_, principal_);
        coordinator::Execution execution = beside.execute(question);
        if (execution.error) return *std::move(execution.error);
        if (execution.results.size() == 1) {
            auto* table = std::get_if<views::Table>(&execution.results.front().value);
            if (table != nullptr) return std::move(*table);
        }
        return Error{.code = ErrorCode::defect, .message = "a question that is none"};
    }

private:
    coordinator::CoordinatorRuntime& coordinator_;
    const std::string principal_;
    const Wait wait_;
    coordinator::Session session_;
};

}  // namespace

std::unique_ptr<Counterpart> local(coordinator::CoordinatorRuntime& coordinator,
                                   std::string principal, const Wait& wait) {
    return std::make_unique<Local>(coordinator, std::move(principal), wait);
}

}  // namespace baton::shell
