# duckdb::duckdb, from what scripts/setup unpacked into .deps/duckdb.
#
# Library and headers come from two packages. What version the headers are of is given to the
# compiler as DUCKDB_HEADER_VERSION and DUCKDB_HEADER_SOURCE_ID; tests/duckdb_smoke.cc holds both
# against the library. Only adapters may use this target.
# The path of the tree itself, so that another version is another path. It is looked up again when
# scripts/setup changes, which names the version.
file(REAL_PATH ${CMAKE_SOURCE_DIR}/.deps/duckdb DUCKDB_ROOT)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/setup)
if(NOT EXISTS ${DUCKDB_ROOT}/lib/libduckdb.so OR NOT EXISTS ${DUCKDB_ROOT}/include/version)
    message(FATAL_ERROR "DuckDB is not there: run scripts/setup")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DUCKDB_ROOT}/include/version)
file(STRINGS ${DUCKDB_ROOT}/include/version version)
list(GET version 0 duckdb_version)
list(GET version 1 duckdb_source_id)

add_library(duckdb::duckdb SHARED IMPORTED)
set_target_properties(duckdb::duckdb PROPERTIES
    IMPORTED_LOCATION ${DUCKDB_ROOT}/lib/libduckdb.so
    IMPORTED_SONAME libduckdb.so
    INTERFACE_INCLUDE_DIRECTORIES ${DUCKDB_ROOT}/include
    INTERFACE_COMPILE_DEFINITIONS
        "DUCKDB_HEADER_VERSION=\"${duckdb_version}\";DUCKDB_HEADER_SOURCE_ID=\"${duckdb_source_id}\"")
