#include "../base/word.h"
#include "word.h"
