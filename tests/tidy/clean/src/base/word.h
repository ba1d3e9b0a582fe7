// A word, to be included by everyone.
#pragma once

#include <string>

using Word = std::string;
