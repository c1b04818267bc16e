# Helpers every folder uses: warnings and sanitizers for our own targets only, and tests.

function(mla_target_defaults target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(MLA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(MLA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${MLA_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${MLA_SANITIZE})
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

# mla_test(kernels_config SOURCES config_test.cpp LINK mla::types [LABELS long] [TIMEOUT s]): one Boost.Test program.
function(mla_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_compile_definitions(${name}_test PRIVATE
    BOOST_TEST_DYN_LINK MLA_TEST_ASSETS="${PROJECT_SOURCE_DIR}/tests/assets"
    MLA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK} Boost::unit_test_framework)
  mla_target_defaults(${name}_test)
  add_test(NAME ${name} COMMAND ${name}_test --color_output=no --log_level=test_suite)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77)
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
