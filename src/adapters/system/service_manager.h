// Reports the state of this process to systemd (Type=notify). Without NOTIFY_SOCKET it reports
// nothing.
#pragma once

#include <string>

namespace baton::system {

// "READY=1", "STOPPING=1", "STATUS=3 workers". A report that cannot be sent is lost.
void notify_service_manager(const std::string& state);

}  // namespace baton::system
