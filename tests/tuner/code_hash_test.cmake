# SPDX-License-Identifier: MIT
# The code hash changes with every kind of kernel source: rows were once "current" after a GPU kernel had changed.
#   cmake -DSCRIPT=<build_info.cmake> -DSCRATCH=<dir> -P code_hash_test.cmake
file(REMOVE_RECURSE ${SCRATCH})
function(read_hash result)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DKERNELS=${SCRATCH}/kernels -DVERSION=1 -DOUTPUT=${SCRATCH}/build_info.h -P ${SCRIPT}
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${SCRATCH}/build_info.h text)
  string(REGEX MATCH "kCodeHash\\[\\] = \"[0-9a-f]+\"" hash "${text}")
  set(${result} "${hash}" PARENT_SCOPE)
endfunction()

file(WRITE ${SCRATCH}/kernels/a.h "1")
read_hash(before)
foreach(name a.h a.cpp gpu/tile.cuh gpu/launch.hip gpu/instance.hip.in)
  file(WRITE ${SCRATCH}/kernels/${name} "${name} changed")
  read_hash(after)
  if("${after}" STREQUAL "" OR "${after}" STREQUAL "${before}")
    message(FATAL_ERROR "the hash does not cover ${name}: ${after}")
  endif()
  set(before "${after}")
endforeach()
