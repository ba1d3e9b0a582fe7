#include <atomic>
