#include "doors/shell/advice.h"

namespace baton::shell {

std::string advice_on(const sql::Statement& statement) {
    const auto* show = std::get_if<sql::Show>(&statement.node);
    if (show == nullptr || show->where) return "";
    if (show->what == sql::ShowWhat::workers) {
        return "No worker is declared yet. Queries run on the coordinator's own worker, which is "
               "listed from its first use on; CREATE WORKER 'host:port' adds a machine.";
    }
    return "";
}

}  // namespace baton::shell
