#include "model/thing.h"
