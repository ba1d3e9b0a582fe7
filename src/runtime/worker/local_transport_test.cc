#include "runtime/worker/local_transport.h"

#include <gtest/gtest.h>
