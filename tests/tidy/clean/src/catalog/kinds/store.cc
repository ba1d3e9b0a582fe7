#include <mutex>

#include <nlohmann/json.hpp>

#include "ports/disk.h"
