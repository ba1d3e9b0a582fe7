// A page of the objects below a folder, in the order of the bytes of their keys.
//
// A directory is read as often as a page begins in it, and keeps no more names than the page takes:
// memory is bounded by the page, not by the directory.
#pragma once

#include <functional>

#include "ports/object_store.h"
#include "ports/store_attempts.h"

namespace baton::folder {

// `stopped` is asked now and then; true: the failure is `given_up`.
[[nodiscard]] std::variant<ListPage, AttemptFailure> list_folder(
    int folder, const ListOptions& options, const std::function<bool()>& stopped);

}  // namespace baton::folder
