# What makes a defect of memory end the program instead of serving an attacker: in builds for users,
# not while working, where it would change what ccache knows. bench/RESULTS.md says what it costs;
# tests/install/hardening_test looks whether the program has it.
option(BATON_HARDENING "Stack protector, bounds checks, nothing writable after the start" ON)
if(BATON_HARDENING AND CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options(-fPIE -fstack-protector-strong -fstack-clash-protection
        -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        add_compile_options(-fcf-protection)
    endif()
    add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
