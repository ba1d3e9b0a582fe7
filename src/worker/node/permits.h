// Permits are what the plans of a worker may reach outside its process.
#pragma once

#include "adapters/file/allowed_files.h"
#include "adapters/targets/allowed_targets.h"

namespace baton::worker {

// Without anything set: no files, and of the network what is neither this machine nor link-local.
struct Permits {
    files::FileRules files;
    targets::TargetRules targets;
};

}  // namespace baton::worker
