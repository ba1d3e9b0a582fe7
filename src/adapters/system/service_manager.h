// Tells systemd (Type=notify) how this process is. Without NOTIFY_SOCKET nothing is told.
#pragma once

#include <string>

namespace baton {

// "READY=1", "STOPPING=1", "STATUS=3 workers". What cannot be told is lost.
void notify_service_manager(const std::string& state);

}  // namespace baton
