# cmake -DTIDY=<program> -DCASE=<directory> -P check.cmake
#
# Runs tidy over a planted tree: its complaints must be exactly those of expected.txt, and its exit
# status must agree with them.
file(READ ${CASE}/expected.txt expected)
execute_process(COMMAND ${TIDY} . modules.txt WORKING_DIRECTORY ${CASE}
    RESULT_VARIABLE status ERROR_VARIABLE actual OUTPUT_VARIABLE ignored)
if(expected STREQUAL "")
    set(expected_status 0)
else()
    set(expected_status 1)
endif()
if(NOT actual STREQUAL expected OR NOT status EQUAL expected_status)
    message(FATAL_ERROR "expected (status ${expected_status}):\n${expected}\n"
        "actual (status ${status}):\n${actual}")
endif()
