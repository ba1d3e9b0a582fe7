namespace baton {

class Word {};

struct Letter {};

namespace model {
struct Word {};
}  // namespace model

namespace {
struct Word {};
}  // namespace

}  // namespace baton
