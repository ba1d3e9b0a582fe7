#include <thread>
#include <unordered_map>

#include <gtest/gtest.h>

#include "catalog/store.h"
#include "core/plan/plan.h"
