#include <thread>
#include <unordered_map>

#include <gtest/gtest.h>

#include "catalog/kinds/store.h"
#include "core/plan/plan.h"
