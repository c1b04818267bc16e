# Code objects for amdgcn alone, without a host part: what the tests execute in their emulator and what the loop budget
# is counted from. MLA_WITH_AMDGCN says whether this build has them, whichever GPU backend it has.
set(MLA_AMDGCN auto CACHE STRING "amdgcn code objects for tests and the loop budget: auto, on or off")
set_property(CACHE MLA_AMDGCN PROPERTY STRINGS auto on off)

set(MLA_WITH_AMDGCN OFF)
if(MLA_AMDGCN STREQUAL "auto" AND MLA_SANITIZE_FLAGS)
  set(mla_amdgcn_state "off (a sanitizer build; MLA_AMDGCN=on forces them)")
elseif(MLA_AMDGCN MATCHES "^(auto|on|ON)$")
  mla_find_rocm()
  list(JOIN MLA_AMDGPU_TARGETS ", " mla_amdgcn_targets)
  if(NOT MLA_ROCM_MISSING)
    set(MLA_WITH_AMDGCN ON)
    set(mla_amdgcn_state "compiled for ${mla_amdgcn_targets} by ${MLA_AMDGCN_CLANG}")
  elseif(MLA_AMDGCN STREQUAL "auto")
    set(mla_amdgcn_state "not compiled: ${MLA_ROCM_MISSING}")
  else()
    message(FATAL_ERROR "MLA_AMDGCN=on: ${MLA_ROCM_MISSING}")
  endif()
elseif(MLA_AMDGCN MATCHES "^(off|OFF)$")
  set(mla_amdgcn_state "off")
else()
  message(FATAL_ERROR "MLA_AMDGCN: '${MLA_AMDGCN}' is none of auto, on, off")
endif()
message(STATUS "amdgcn code objects: ${mla_amdgcn_state}")
file(WRITE ${CMAKE_BINARY_DIR}/amdgcn.txt "${mla_amdgcn_state}\n")  # for the summary of tools/test

# mla_amdgcn_code_object(result NAME stage1_n16 ARCH gfx950 SOURCE kernel.hip [DEFINITIONS A=1 ...] [INCLUDES folder ...]
# [DEPENDS file ...]): the rule that makes amdgcn/NAME.ARCH.co in the current build folder, with the flags of the GPU
# backend; `result` is set to its path, for the DEPENDS of a target of the same folder.
function(mla_amdgcn_code_object result)
  cmake_parse_arguments(ARG "" "NAME;ARCH;SOURCE" "DEFINITIONS;INCLUDES;DEPENDS" ${ARGN})
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/amdgcn/${ARG_NAME}.${ARG_ARCH}.co)
  list(TRANSFORM ARG_DEFINITIONS PREPEND -D)
  list(TRANSFORM ARG_INCLUDES PREPEND -I)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/amdgcn
    COMMAND ${MLA_AMDGCN_CLANG} -x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=${ARG_ARCH}
            --rocm-path=${MLA_ROCM_ROOT} -std=c++20 -O3 -DNDEBUG ${MLA_AMDGCN_FLAGS}
            -isystem ${MLA_ROCM_ROOT}/include ${ARG_INCLUDES} -I${PROJECT_SOURCE_DIR} ${ARG_DEFINITIONS}
            # clang has no -MD for device code alone
            -Xclang -dependency-file -Xclang ${output}.d -Xclang -MT -Xclang ${output} ${source} -o ${output}
    DEPENDS ${source} ${ARG_DEPENDS}
    DEPFILE ${output}.d
    COMMENT "amdgcn ${ARG_NAME} for ${ARG_ARCH}"
    VERBATIM)
  set(${result} ${output} PARENT_SCOPE)
endfunction()
