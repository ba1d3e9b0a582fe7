#include <mutex>
#include <thread>
