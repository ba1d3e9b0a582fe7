#include "core/exchange/progress.h"

#include "base/text.h"

namespace baton::exchange {

std::string to_string(const ReceiverId& id) {
    return "exchange " + std::to_string(id.key.exchange) + " of run " + std::to_string(id.key.run) +
           " of query " + baton::to_string(id.key.query) + " on worker " + in_quotes(id.worker);
}

}  // namespace baton::exchange
