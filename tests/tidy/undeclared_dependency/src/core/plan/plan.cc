#include "base/word.h"
#include "ports/disk.h"
