// TableWorld is what tables need beside a coordinator: folder stores and the real engine, in a
// directory that goes with it.
#pragma once

#include <memory>
#include <string>

#include "ports/clock.h"
#include "stores/url_stores.h"
#include "tables/access/table_access.h"
#include "testing/temporary_directory.h"

namespace baton::testing {

class TableWorld {
public:
    // The clock outlives it.
    explicit TableWorld(const Clock& clock, std::size_t slots = 2);

    [[nodiscard]] tables::TableAccess& access() { return *access_; }
    [[nodiscard]] QuestionEngine& engine() { return *engine_; }
    [[nodiscard]] std::string folder() const { return directory_.path() + "/tables"; }
    // Another process with the same store.
    [[nodiscard]] std::unique_ptr<tables::TableAccess> another_access();

private:
    TemporaryDirectory directory_;
    const Clock& clock_;
    std::unique_ptr<stores::UrlStores> stores_;
    std::unique_ptr<QuestionEngine> engine_;
    std::unique_ptr<CheckpointFiles> checkpoints_;
    int processes_ = 0;
    std::unique_ptr<tables::TableAccess> access_;
};

}  // namespace baton::testing
