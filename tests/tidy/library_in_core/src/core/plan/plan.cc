#include <sqlite3.h>
#include <nlohmann/json.hpp>
