#include <thread>

void wait() { std::this_thread::sleep_for(1s); }
