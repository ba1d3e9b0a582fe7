#include "base/word.h"
