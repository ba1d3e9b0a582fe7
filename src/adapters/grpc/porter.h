// Porter accepts the connections of a server of gRPC, and shuts out those that need not be heard.
//
// gRPC lets a connection take any amount of memory before anything of a call can be judged, with
// streams that are opened and reset. So where all callers have to be processes of one user, those
// of other users of this machine do not get that far.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "adapters/grpc/trust.h"
#include "adapters/system/listening.h"
#include "adapters/system/open_file.h"
#include "adapters/system/seldom.h"
#include "adapters/system/wake_up.h"

namespace baton::rpc {

class Porter {
public:
    // `take` is given each connection, from the porter's thread; it owns it then. `log` hears of
    // those that are shut out, a few times a minute at most.
    Porter(std::vector<system::ListeningSockets> listening, Admitted admitted,
           std::function<void(int)> take, std::function<void(const std::string&)> log);
    ~Porter();
    Porter(const Porter&) = delete;
    Porter& operator=(const Porter&) = delete;

private:
    void run();
    void accept_all(int listener);

    const std::vector<system::ListeningSockets> listening_;
    const Admitted admitted_;
    const std::function<void(int)> take_;
    system::Seldom refusals_;
    system::OpenFile poll_;
    system::WakeUp leave_;
    std::thread thread_;
};

}  // namespace baton::rpc
