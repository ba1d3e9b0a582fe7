// LocalObjects gives objects of stores as files of this machine, for engines that read files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/table.h"
#include "ports/object_store.h"

namespace baton {

// The file is at its path as long as this or a copy of it lives.
struct LocalFile {
    std::string path;
    std::shared_ptr<const void> held;  // none: nothing removes it
};

class LocalObjects {
public:
    virtual ~LocalObjects() = default;

    // `key` as the store has it. Fails with the errors of the store; damaged_table, naming the
    // object, if it is not there or not as the log says; too_large for an object beyond
    // `bytes_max`; slow_down if the files in use leave no room within the call's patience;
    // cannot_write; cancelled. Blocks; any thread, many at once.
    [[nodiscard]] virtual Result<LocalFile> fetch(ObjectStore& store, const std::string& key,
                                                  const TableObject& object,
                                                  const StoreCall& call) = 0;
    // Of all files together.
    [[nodiscard]] virtual std::uint64_t bytes_max() const = 0;
};

}  // namespace baton
