# Debian packages of a build: program, run-time libraries, what compiling against them needs, Python package, and data
# (whatever install rule names no component). tools/package makes them, and the archive of a static build.
set(MLA_PACKAGE_CONTACT "mla-tune maintainers <maintainers@mla-tune.invalid>" CACHE STRING
    "Maintainer field of the packages")

set(CPACK_PACKAGE_NAME mla-tune)
set(CPACK_PACKAGE_CONTACT "${MLA_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_VENDOR mla-tune)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else it is the synopsis of every package
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

# Of a static build one archive to unpack anywhere (`cpack -G TGZ`), else a package for each component.
set(CPACK_PACKAGE_FILE_NAME mla-tune-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
if(MLA_STATIC)
  list(FILTER CPACK_COMPONENTS_ALL INCLUDE REGEX "^(program|data)$")
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
else()
  set(CPACK_COMPONENTS_GROUPING IGNORE)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# What Debian asks of every package, beside a component's own files: they are left out of a plain `cmake --install`.
file(READ LICENSE license)
string(REGEX REPLACE "\n\n" "\n .\n" license "${license}")
string(REGEX REPLACE "\n([^ \n])" "\n \\1" license "${license}")
configure_file(cmake/copyright.in package/copyright @ONLY)
string(TIMESTAMP MLA_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/changelog.in package/changelog @ONLY)
execute_process(COMMAND gzip -9nf ${CMAKE_BINARY_DIR}/package/changelog)

# mla_package(program mla-tune SECTION utils TEXT "one line" [ALL] [DEPENDS ..] [RECOMMENDS ..])
function(mla_package component name)
  cmake_parse_arguments(ARG "ALL" "SECTION;TEXT;DEPENDS;RECOMMENDS" "" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${ARG_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ARG_TEXT}\n\
mla-tune measures which launch configuration of MLA decode attention is\n\
fastest for each shape on a device, and answers from that at run time." PARENT_SCOPE)
  if(ARG_ALL)
    set(CPACK_DEBIAN_${upper}_PACKAGE_ARCHITECTURE all PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS OFF PARENT_SCOPE)
  endif()
  install(FILES ${CMAKE_BINARY_DIR}/package/copyright ${CMAKE_BINARY_DIR}/package/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(runtime libmla-tune${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
mla_package(program mla-tune SECTION utils RECOMMENDS "mla-tune-data"
  TEXT "tuner of launch configurations for MLA decode attention")
mla_package(runtime ${runtime} SECTION libs RECOMMENDS "mla-tune-data"
  TEXT "lookup of tuned MLA decode configurations, and decode kernels")
# CPack calls ldconfig in scripts; Debian's way is a trigger.
file(WRITE ${CMAKE_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/triggers)
mla_package(dev libmla-tune-dev SECTION libdevel DEPENDS "${runtime} (= ${PROJECT_VERSION})"
  TEXT "headers, pkg-config and CMake files of mla-tune's libraries")
mla_package(python python3-mla-tune SECTION python ALL DEPENDS "python3, ${runtime} (>= ${PROJECT_VERSION})"
  TEXT "Python package over mla-tune's libraries")
# Byte code is made when the package is installed, so that it goes with it.
foreach(step "postinst py3compile" "prerm py3clean")
  string(REPLACE " " ";" step ${step})
  list(GET step 0 script)
  list(GET step 1 command)
  file(WRITE ${CMAKE_BINARY_DIR}/package/python/${script}
       "#!/bin/sh\nset -e\nif command -v ${command} >/dev/null; then ${command} -p python3-mla-tune; fi\n")
  list(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/python/${script})
endforeach()
if(data IN_LIST CPACK_COMPONENTS_ALL)
  mla_package(data mla-tune-data SECTION science ALL TEXT "tuned MLA decode configurations of measured devices")
endif()

include(CPack)
