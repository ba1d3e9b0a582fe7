# cmake -DPROGRAM=<program> -DFILE=<file> -DHOW=<command> -P same_output.cmake
#
# Fails unless the program prints exactly the file.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE actual COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FILE} expected)
if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "${FILE} is out of date: run ${HOW}")
endif()
