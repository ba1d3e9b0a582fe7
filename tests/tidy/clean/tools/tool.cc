#include <unistd.h>

#include "base/word.h"
