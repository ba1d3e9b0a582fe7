// EpochFile keeps whom a worker obeys in a file of its data directory: the highest epoch and the id
// of the catalog in one line, replaced as a whole, so that whatever happens either the old or the
// new one is there. A line without a catalog is of a worker that none has greeted yet.
//
// Only one process at a time has the file: another one that would read or release it is refused.
#pragma once

#include <string>
#include <utility>

#include "ports/epoch_store.h"

namespace baton::system {

class EpochFile final : public EpochStore {
public:
    // `directory` exists. Fails if another process has the file.
    [[nodiscard]] static Result<EpochFile> open(const std::string& directory);
    ~EpochFile() override;
    EpochFile(EpochFile&& other) noexcept
        : directory_(std::move(other.directory_)), lock_(std::exchange(other.lock_, -1)) {}
    EpochFile& operator=(EpochFile&&) = delete;

    [[nodiscard]] Result<control::Allegiance> load() override;
    [[nodiscard]] Result<Done> keep(const control::Allegiance& allegiance) override;
    // Nothing is kept from now on. Works also where what was kept cannot be read.
    [[nodiscard]] Result<Done> forget();

private:
    EpochFile(std::string directory, int lock) : directory_(std::move(directory)), lock_(lock) {}
    [[nodiscard]] std::string path() const { return directory_ + "/epoch"; }

    std::string directory_;
    int lock_ = -1;  // held with the descriptor
};

}  // namespace baton::system
