// EpochFile keeps a worker's highest epoch in a file of its data directory: one number, replaced as
// a whole, so that whatever happens either the old or the new one is there.
#pragma once

#include <string>

#include "ports/epoch_store.h"

namespace baton {

class EpochFile final : public EpochStore {
public:
    // `directory` exists.
    explicit EpochFile(std::string directory) : directory_(std::move(directory)) {}

    [[nodiscard]] Result<Epoch> load() override;
    [[nodiscard]] Result<Done> keep(Epoch epoch) override;

private:
    [[nodiscard]] std::string path() const { return directory_ + "/epoch"; }

    const std::string directory_;
};

}  // namespace baton
