// Namespaces for the campaign, in which it may do as it likes with networks and disks.
//
// They belong to this process and to its children and have no names: when the last of them is gone,
// however it ended, so is everything that was made in them. Nothing is left to be swept away.
#pragma once

#include <string>

namespace baton::chaos {

// Moves this process into a network and mounts of its own, if all that the campaign wants can be
// had there. Empty: done; else why not, and nothing has changed. To be called before any thread is
// started. Needs to be root, or a system on which users may make namespaces.
[[nodiscard]] std::string isolate();

// Runs a program and waits for it, in the network namespace of the descriptor; -1: this process's
// own. False if it fails; what it has to say about that goes to standard error.
[[nodiscard]] bool run(const std::string& command, int space = -1);

}  // namespace baton::chaos
