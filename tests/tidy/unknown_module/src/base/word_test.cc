#include "bass/word.h"
