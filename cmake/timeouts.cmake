# A test that hangs fails: the limits are far above what a test takes on a slow machine, or with a
# sanitizer.
#
# baton_discover_tests(<target>) registers each test of a GoogleTest program.
function(baton_discover_tests target)
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# baton_timeouts() gives a limit to each test of this directory that has none; call it last.
function(baton_timeouts)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(test ${tests})
        get_property(has TEST ${test} PROPERTY TIMEOUT SET)
        if(NOT has)
            set_tests_properties(${test} PROPERTIES TIMEOUT 600)
        endif()
    endforeach()
endfunction()
