# Install rules: the program, the run-time libraries with their headers and Python modules, and what other build systems
# need to find them (CMake package mla-tune with components policy and decode, pkg-config modules mla_policy and
# mla_decode).
include(CMakePackageConfigHelpers)

set(MLA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mla-tune)

if(TARGET mla-tune)
  install(TARGETS mla-tune)
endif()

# The prefix as seen from the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH MLA_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

# One shared library of mla_c_abi(): target mla::policy of mla_policy, its pkg-config module with the text `what`.
function(mla_install_library target header what)
  string(REGEX REPLACE "^mla_" "" component ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
  install(TARGETS ${target} EXPORT mla-tune-targets)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  set(MLA_LIBRARY ${target})
  set(MLA_LIBRARY_TEXT ${what})
  configure_file(cmake/library.pc.in ${target}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
mla_install_library(mla_policy policy/mla_policy.h "the run-time lookup")
mla_install_library(mla_decode kernels/decode/mla_decode.h "the decode kernels")
install(FILES kernels/decode/mla_abi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY policy/python/mla_tune DESTINATION ${CMAKE_INSTALL_DATADIR}/mla-tune/python FILES_MATCHING PATTERN "*.py")

install(EXPORT mla-tune-targets NAMESPACE mla:: FILE mla-tune-targets.cmake DESTINATION ${MLA_CMAKE_DIR})
configure_package_config_file(cmake/mla-tune-config.cmake.in mla-tune-config.cmake
                              INSTALL_DESTINATION ${MLA_CMAKE_DIR})
write_basic_package_version_file(mla-tune-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mla-tune-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/mla-tune-config-version.cmake
        DESTINATION ${MLA_CMAKE_DIR})
