#include <unordered_map>

std::unordered_map<int, int> table;
