# Install rules: the program, the run-time policy library with its header and Python module, and what other build
# systems need to find them (CMake package mla-tune with target mla::policy, pkg-config module mla_policy).
include(CMakePackageConfigHelpers)

set(MLA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mla-tune)

if(TARGET mla-tune)
  install(TARGETS mla-tune)
endif()
if(NOT TARGET mla_policy)
  return()
endif()
set_target_properties(mla_policy PROPERTIES EXPORT_NAME policy)
install(TARGETS mla_policy EXPORT mla-tune-targets)
install(FILES policy/mla_policy.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES policy/python/mla_policy.py DESTINATION ${CMAKE_INSTALL_DATADIR}/mla-tune/python)
install(EXPORT mla-tune-targets NAMESPACE mla:: FILE mla-tune-targets.cmake DESTINATION ${MLA_CMAKE_DIR})

configure_package_config_file(cmake/mla-tune-config.cmake.in mla-tune-config.cmake
                              INSTALL_DESTINATION ${MLA_CMAKE_DIR})
write_basic_package_version_file(mla-tune-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mla-tune-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/mla-tune-config-version.cmake
        DESTINATION ${MLA_CMAKE_DIR})

# The prefix as seen from the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH MLA_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/mla_policy.pc.in mla_policy.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mla_policy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
