# Install rules: the program, the run-time libraries with their headers and Python modules, and what other build systems
# need to find them (CMake package mla-tune with components policy and decode, pkg-config modules mla_policy and
# mla_decode). Components of the installation are the packages of MlaCPack.cmake.
include(CMakePackageConfigHelpers)

set(MLA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mla-tune)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME data)
set(MLA_PYTHON_DIR ${CMAKE_INSTALL_DATADIR}/mla-tune/python CACHE STRING "Where the Python package is installed")

if(TARGET mla-tune)
  install(TARGETS mla-tune COMPONENT program)
endif()
# OPTIONAL: a build of single targets has no pages and scripts.
foreach(page IN LISTS mla_man_pages)
  string(REGEX MATCH "([1-9])\\.gz$" unused ${page})
  set(section ${CMAKE_MATCH_1})
  if(section EQUAL 3)
    set(component dev)
  else()
    set(component program)
  endif()
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component} OPTIONAL)
endforeach()
if(TARGET completions)
  install(FILES ${MLA_COMPLETION_DIR}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME mla-tune COMPONENT program OPTIONAL)
  install(FILES ${MLA_COMPLETION_DIR}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
          RENAME _mla-tune COMPONENT program OPTIONAL)
  install(FILES ${MLA_COMPLETION_DIR}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          RENAME mla-tune.fish COMPONENT program OPTIONAL)
endif()

# The prefix as seen from the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH MLA_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

# One shared library of mla_c_abi(): target mla::policy of mla_policy, its pkg-config module with the text `what`.
function(mla_install_library target header what)
  string(REGEX REPLACE "^mla_" "" component ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
  install(TARGETS ${target} EXPORT mla-tune-targets LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  set(MLA_LIBRARY ${target})
  set(MLA_LIBRARY_TEXT ${what})
  configure_file(cmake/library.pc.in ${target}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()
mla_install_library(mla_policy policy/mla_policy.h "the run-time lookup")
mla_install_library(mla_decode kernels/decode/mla_decode.h "the decode kernels")
install(FILES kernels/decode/mla_abi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(DIRECTORY policy/python/mla_tune DESTINATION ${MLA_PYTHON_DIR} COMPONENT python FILES_MATCHING PATTERN "*.py")

install(EXPORT mla-tune-targets NAMESPACE mla:: FILE mla-tune-targets.cmake DESTINATION ${MLA_CMAKE_DIR} COMPONENT dev)
configure_package_config_file(cmake/mla-tune-config.cmake.in mla-tune-config.cmake
                              INSTALL_DESTINATION ${MLA_CMAKE_DIR})
write_basic_package_version_file(mla-tune-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mla-tune-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/mla-tune-config-version.cmake
        DESTINATION ${MLA_CMAKE_DIR} COMPONENT dev)
