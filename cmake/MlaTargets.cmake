# Helpers every folder uses. Warnings and sanitizers are put on our own targets only.

# The value of -fsanitize= for this build; empty without sanitizers. A fuzz build instruments every library for
# coverage as well, else libFuzzer sees nothing but the entry point.
if(MLA_BUILD_FUZZERS)
  set(MLA_SANITIZE_FLAGS "fuzzer-no-link,address,undefined")
else()
  set(MLA_SANITIZE_FLAGS "${MLA_SANITIZE}")
endif()

function(mla_target_defaults target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(MLA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(MLA_SANITIZE_FLAGS)
    # -O1: what the sanitizers' documentation recommends; -g1 keeps line numbers at half the compile time of -g.
    target_compile_options(${target} PRIVATE -O1 -g1 -fsanitize=${MLA_SANITIZE_FLAGS}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${MLA_SANITIZE_FLAGS})
  endif()
endfunction()

# mla_library(mla_db SOURCES a.cpp LINK mla_types PRIVATE_LINK SQLiteCpp): a static library and its alias mla::db.
function(mla_library target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  mla_target_defaults(${target})
  string(REGEX REPLACE "^mla_" "" short ${target})
  add_library(mla::${short} ALIAS ${target})
endfunction()

# mla_c_abi(mla_policy SOURCES mla_policy.cpp MAP mla_policy.map PRIVATE_LINK mla::policy_core): a shared library for
# other programs, alias mla::policy: everything linked in, only the C ABI of the version script visible.
function(mla_c_abi target)
  cmake_parse_arguments(ARG "" "MAP" "SOURCES;PRIVATE_LINK" ${ARGN})
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_MAP})
  add_library(${target} SHARED ${ARG_SOURCES})
  # Below 1.0 a minor version may change the ABI (mla_policy.h), so the loader has to tell them apart.
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINK_DEPENDS ${map})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels/decode>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${ARG_PRIVATE_LINK})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${map})
  mla_target_defaults(${target})
  string(REGEX REPLACE "^mla_" "" short ${target})
  add_library(mla::${short} ALIAS ${target})
endfunction()

# mla_test(kernels_config SOURCES config_test.cpp LINK mla::types [LABELS long|threads] [TIMEOUT s]): one Boost.Test
# program. Label "long": for `tools/test --full`. Label "threads": what a thread sanitizer build is for. OWN_MAIN: the
# sources have a main() and Boost.Test from its headers, since its static library has a main() as well.
function(mla_test name)
  cmake_parse_arguments(ARG "OWN_MAIN" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_compile_definitions(${name}_test PRIVATE
    MLA_TEST_ASSETS="${PROJECT_SOURCE_DIR}/tests/assets" MLA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK})
  if(NOT ARG_OWN_MAIN)
    target_compile_definitions(${name}_test PRIVATE ${MLA_BOOST_TEST})
    target_link_libraries(${name}_test PRIVATE Boost::unit_test_framework)
  endif()
  mla_target_defaults(${name}_test)
  add_test(NAME ${name} COMMAND ${name}_test --color_output=no --log_level=test_suite)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77)
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
  if(threads IN_LIST ARG_LABELS)
    add_dependencies(thread_tests ${name}_test)
  endif()
endfunction()

# mla_fuzzer(fuzz_csv SOURCES fuzz_csv.cpp LINK mla::tuner [SEED_PROGRAM target]): one libFuzzer target. Its seeds are
# the files of tests/fuzz/corpus/fuzz_csv and what SEED_PROGRAM writes into the folder it is given. A fuzz build (clang,
# MLA_BUILD_FUZZERS) makes the fuzzer; every other build makes a program that replays the seeds as test <name>_corpus.
function(mla_fuzzer name)
  cmake_parse_arguments(ARG "" "SEED_PROGRAM" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  mla_target_defaults(${name})
  set(written_seeds ${CMAKE_CURRENT_BINARY_DIR}/seeds/${name})
  if(ARG_SEED_PROGRAM)
    add_custom_command(TARGET ${name} POST_BUILD COMMAND ${ARG_SEED_PROGRAM} ${written_seeds})
    add_dependencies(${name} ${ARG_SEED_PROGRAM})
  endif()
  if(MLA_BUILD_FUZZERS)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    add_test(NAME ${name}_corpus
             COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name} ${written_seeds})
    set_tests_properties(${name}_corpus PROPERTIES TIMEOUT 120)
  endif()
endfunction()
