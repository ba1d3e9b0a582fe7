#include <random>

int dice() { return rand(); }
std::mt19937 generator;
