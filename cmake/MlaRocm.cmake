# ROCm for the amdgcn targets: an installed one (-DMLA_ROCM_PATH, $ROCM_PATH or /opt/rocm) with its own clang, else
# Debian 12's packages, from which a small root folder is made in the build tree.
#
# Debian's device libraries and HIP headers are ROCm 5.2's, its clang-22 asks for newer ones. What clang lacks there are
# three files of a few constants each, made here from their older kin: the ISA numbers of gfx942 and gfx950, and the
# number of the code object ABI.
set(MLA_ROCM_PATH "" CACHE PATH "ROCm installation; empty: $ROCM_PATH, else /opt/rocm, else Debian's packages")
set(MLA_AMDGPU_TARGETS "gfx942;gfx950" CACHE STRING "amdgcn targets of the GPU backend and of the tests")

# How device code is compiled, in the program and for the tests alike. HIP's default fuses a multiplication and an
# addition of different functions, __fmul_rn and __fadd_rn too, and then the device does not fill rows as the host does.
set(MLA_AMDGCN_FLAGS -ffp-contract=on -Wall -Wextra -Wno-unused-parameter)

set(MLA_ROCM_DEBIAN_PACKAGES
    "clang-22 clang-tools-22 lld-22 llvm-22 rocm-device-libs libamdhip64-dev")

# Sets MLA_ROCM_ROOT and MLA_ROCM_MADE (whether it is ours), and the tools MLA_AMDGCN_CLANG, _OBJDUMP, _READOBJ and
# _MC; MLA_ROCM_MISSING is empty or says what is missing.
macro(mla_find_rocm)
  mla_installed_rocm(MLA_ROCM_ROOT)
  if(MLA_ROCM_ROOT)
    set(MLA_ROCM_MADE OFF)
    mla_find_amdgcn_tools("" ${MLA_ROCM_ROOT}/lib/llvm/bin ${MLA_ROCM_ROOT}/llvm/bin)
  else()
    set(MLA_ROCM_MADE ON)
    mla_find_amdgcn_tools("-22")
    mla_make_rocm_root()
  endif()
endmacro()

function(mla_installed_rocm result)
  foreach(root "${MLA_ROCM_PATH}" "$ENV{ROCM_PATH}" /opt/rocm)
    if(root AND EXISTS ${root}/include/hip/hip_runtime.h AND EXISTS ${root}/llvm/bin/clang++)
      set(${result} ${root} PARENT_SCOPE)
      return()
    elseif(root AND root STREQUAL MLA_ROCM_PATH)
      message(FATAL_ERROR "MLA_ROCM_PATH=${root}: no include/hip/hip_runtime.h or no llvm/bin/clang++ there")
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

macro(mla_find_amdgcn_tools suffix)
  set(MLA_ROCM_MISSING "")
  foreach(tool CLANG=clang++ OBJDUMP=llvm-objdump READOBJ=llvm-readobj MC=llvm-mc)
    string(REGEX MATCH "^([A-Z]+)=(.*)$" tool ${tool})
    set(variable MLA_AMDGCN_${CMAKE_MATCH_1})
    find_program(${variable} ${CMAKE_MATCH_2}${suffix} HINTS ${ARGN})
    mark_as_advanced(${variable})
    if(NOT ${variable})
      list(APPEND MLA_ROCM_MISSING ${CMAKE_MATCH_2}${suffix})
    endif()
  endforeach()
endmacro()

# Writes the bitcode file `to` with the constant of `from` changed.
function(mla_derive_bitcode from old to new)
  set(text ${MLA_ROCM_ROOT}/${to}.ll)
  execute_process(COMMAND ${MLA_LLVM_DIS} ${MLA_ROCM_BITCODE}/${from} -o ${text} COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${text} ir)
  string(REPLACE "constant i32 ${old}," "constant i32 ${new}," changed "${ir}")
  if(ir STREQUAL changed)
    message(FATAL_ERROR "${MLA_ROCM_BITCODE}/${from}: no constant ${old} to make ${to} from")
  endif()
  file(WRITE ${text} "${changed}")
  execute_process(COMMAND ${MLA_LLVM_AS} ${text} -o ${MLA_ROCM_ROOT}/amdgcn/bitcode/${to}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# What CMake's HIP language asks of a ROCm root beside headers and libraries.
function(mla_write_hip_lang_config)
  file(WRITE ${MLA_ROCM_ROOT}/share/hip/version
       "HIP_VERSION_MAJOR=5\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=3\n")
  file(WRITE ${MLA_ROCM_ROOT}/lib/cmake/hip-lang/hip-lang-config.cmake [[
if(NOT TARGET hip-lang::device)
  add_library(hip-lang::device INTERFACE IMPORTED)
  get_filename_component(rocm_lib ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
  set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_LIBRARIES ${rocm_lib}/libamdhip64.so)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
]])
endfunction()

macro(mla_make_rocm_root)
  set(MLA_ROCM_ROOT ${CMAKE_BINARY_DIR}/rocm)
  find_program(MLA_LLVM_DIS llvm-dis-22)
  find_program(MLA_LLVM_AS llvm-as-22)
  find_program(MLA_AMDGCN_LLD ld.lld-22)
  find_path(MLA_ROCM_BITCODE ockl.bc PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode NO_DEFAULT_PATH)
  find_path(MLA_ROCM_HEADERS hip/amd_detail/amd_hip_runtime.h PATHS /usr/include NO_DEFAULT_PATH)
  mark_as_advanced(MLA_LLVM_DIS MLA_LLVM_AS MLA_AMDGCN_LLD MLA_ROCM_BITCODE MLA_ROCM_HEADERS)
  foreach(need MLA_LLVM_DIS=llvm-dis-22 MLA_LLVM_AS=llvm-as-22 MLA_AMDGCN_LLD=ld.lld-22
               MLA_ROCM_BITCODE=rocm-device-libs MLA_ROCM_HEADERS=libamdhip64-dev)
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" need ${need})
    if(NOT ${CMAKE_MATCH_1})
      list(APPEND MLA_ROCM_MISSING ${CMAKE_MATCH_2})
    endif()
  endforeach()
  if(MLA_ROCM_MISSING)
    list(JOIN MLA_ROCM_MISSING ", " MLA_ROCM_MISSING)
    string(PREPEND MLA_ROCM_MISSING "no /opt/rocm, and of Debian's packages ${MLA_ROCM_DEBIAN_PACKAGES} not found: ")
  elseif(NOT EXISTS ${MLA_ROCM_ROOT}/made)
    file(REMOVE_RECURSE ${MLA_ROCM_ROOT})
    file(MAKE_DIRECTORY ${MLA_ROCM_ROOT}/include ${MLA_ROCM_ROOT}/amdgcn/bitcode)
    file(CREATE_LINK ${MLA_ROCM_HEADERS}/hip ${MLA_ROCM_ROOT}/include/hip SYMBOLIC)
    file(GLOB mla_bitcode ${MLA_ROCM_BITCODE}/*.bc)
    foreach(file ${mla_bitcode})
      get_filename_component(name ${file} NAME)
      file(CREATE_LINK ${file} ${MLA_ROCM_ROOT}/amdgcn/bitcode/${name} SYMBOLIC)
    endforeach()
    mla_derive_bitcode(oclc_isa_version_940.bc 9400 oclc_isa_version_942.bc 9402)
    mla_derive_bitcode(oclc_isa_version_940.bc 9400 oclc_isa_version_950.bc 9500)
    mla_derive_bitcode(oclc_abi_version_500.bc 500 oclc_abi_version_600.bc 600)
    mla_write_hip_lang_config()
    file(GLOB mla_hip_libraries /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libamdhip64.so*)
    foreach(file ${mla_hip_libraries})
      get_filename_component(name ${file} NAME)
      file(CREATE_LINK ${file} ${MLA_ROCM_ROOT}/lib/${name} SYMBOLIC)
    endforeach()
    file(WRITE ${MLA_ROCM_ROOT}/made "")
  endif()
endmacro()
