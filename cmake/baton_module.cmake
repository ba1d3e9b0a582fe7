# baton_module(NAME <layer/name> [NAMESPACE <name>] [SEPARATE] [DEPS <layer/name>...] [LIBS <target>...])
#
# One directory under src/ is one library. DEPS is the only place where a dependency on another
# module is declared; it is checked three times:
#   - by the linker: <name>_link_test links the whole archive against DEPS alone;
#   - by the compiler: every header is compiled by itself (test `headers`);
#   - by tools/tidy: every #include must belong to the module, to DEPS, or to the standard library.
#
# Its namespace is baton::<name>, or baton::<NAMESPACE>; `NAMESPACE baton` is baton itself, the shared
# vocabulary. tools/tidy checks that, too.
#
# The preset `release` compiles a module as one file, so names in its unnamed namespaces must differ.
# SEPARATE is for a module that cannot be compiled so.
function(baton_module)
    cmake_parse_arguments(M "SEPARATE" "NAME;NAMESPACE" "DEPS;LIBS" ${ARGN})
    string(REPLACE "/" "_" target "baton_${M_NAME}")
    set(dir ${CMAKE_SOURCE_DIR}/src/${M_NAME})

    file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h)
    file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")
    list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cc$")

    set(deps ${M_DEPS})
    list(TRANSFORM deps REPLACE "/" "_")
    list(TRANSFORM deps PREPEND "baton_")

    if(sources)
        add_library(${target} STATIC)
        set(scope PUBLIC)
        target_sources(${target} PRIVATE ${sources})
        if(M_SEPARATE)
            set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
        endif()
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_sources(${target} ${scope}
        FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${headers})
    target_link_libraries(${target} ${scope} ${deps} ${M_LIBS} baton_warnings)

    if(sources AND BATON_TESTS)
        add_executable(${target}_link_test ${CMAKE_SOURCE_DIR}/cmake/link_test.cc)
        target_link_libraries(${target}_link_test PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>")
    endif()

    if(NOT M_NAMESPACE)
        cmake_path(GET M_NAME FILENAME M_NAMESPACE)
    endif()
    string(JOIN " " deps_text ${M_DEPS})
    set_property(GLOBAL APPEND PROPERTY BATON_MODULES "${M_NAME} ${M_NAMESPACE}: ${deps_text}")
    set_property(GLOBAL PROPERTY BATON_TESTS_${target} "${tests}")
endfunction()

# baton_tests(NAME <layer/name> [SEPARATE] [DEPS <layer/name>...] [LIBS <target>...])
#
# The *_test.cc files beside a module's sources. They may use more than the module itself may.
function(baton_tests)
    cmake_parse_arguments(T "SEPARATE" "NAME" "DEPS;LIBS" ${ARGN})
    string(REPLACE "/" "_" target "baton_${T_NAME}")
    get_property(tests GLOBAL PROPERTY BATON_TESTS_${target})
    set(deps ${T_DEPS})
    list(TRANSFORM deps REPLACE "/" "_")
    list(TRANSFORM deps PREPEND "baton_")
    add_executable(${target}_test ${tests})
    if(T_SEPARATE)
        set_target_properties(${target}_test PROPERTIES UNITY_BUILD OFF)
    endif()
    if("rapidcheck" IN_LIST T_LIBS)
        target_sources(${target}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/fixed_seeds.cc)
    endif()
    target_link_libraries(${target}_test PRIVATE ${target} ${deps} ${T_LIBS} GTest::gtest_main)
    target_compile_definitions(${target}_test PRIVATE
        BATON_TESTDATA="${CMAKE_SOURCE_DIR}/src/${T_NAME}/testdata")
    baton_discover_tests(${target}_test)
endfunction()
