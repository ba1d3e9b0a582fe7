#include <future>
