// FolderLock is the lock under which files of a folder are replaced and removed, over threads and
// processes. The kernel frees it when its holder dies.
#pragma once

#include "adapters/folder/stop.h"
#include "adapters/system/open_file.h"

namespace baton::folder {

class FolderLock {
public:
    // Waits until it has the lock or the attempt has to end.
    FolderLock(int hidden, const Stop& stop);

    [[nodiscard]] bool is_held() const { return file_.is_open(); }
    // Why it is not held: nothing has happened.
    [[nodiscard]] const AttemptFailure& failure() const { return failure_; }

private:
    system::OpenFile file_;
    AttemptFailure failure_;
};

}  // namespace baton::folder
