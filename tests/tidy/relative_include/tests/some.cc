#include "../src/base/word.h"
