# What is written from the sources: manual pages (needs scdoc), completion scripts (needs the program), and the pages of
# the C interface (target doc, needs Doxygen; not part of all).

# mla_man_page(mla-tune.1 program): one page in ${MLA_MAN_DIR}, from the arguments of write_man.
set(MLA_MAN_DIR ${CMAKE_BINARY_DIR}/man)
set(mla_man_pages "")
function(mla_man_page name)
  set(page ${MLA_MAN_DIR}/${name}.gz)
  set(depends ${ARGN})
  list(FILTER depends INCLUDE REGEX "^/")
  add_custom_command(
    OUTPUT ${page}
    COMMAND write_man ${name}.scd ${PROJECT_VERSION} ${ARGN}
    COMMAND sh -c "\"$0\" <\"$1\" >\"$2\"" ${MLA_SCDOC} ${name}.scd ${name}
    COMMAND gzip -9nf ${name}
    WORKING_DIRECTORY ${MLA_MAN_DIR}
    DEPENDS write_man ${depends}
    COMMENT "Manual page ${name}"
    VERBATIM)
  set(mla_man_pages ${mla_man_pages} ${page} PARENT_SCOPE)
endfunction()

find_program(MLA_SCDOC scdoc DOC "Compiles the manual pages; without it there are none")
if(TARGET write_man AND MLA_SCDOC)
  file(MAKE_DIRECTORY ${MLA_MAN_DIR})
  mla_man_page(mla-tune.1 program)
  mla_man_page(mla-tune.db.5 format ${PROJECT_SOURCE_DIR}/db/FORMAT.md)
  mla_man_page(mla_policy.3 header mla_policy "which configuration to launch for a decode step"
    ${PROJECT_SOURCE_DIR}/policy/mla_policy.h ${PROJECT_SOURCE_DIR}/kernels/decode/mla_abi.h)
  mla_man_page(mla_decode.3 header mla_decode "decode kernels for MLA attention"
    ${PROJECT_SOURCE_DIR}/kernels/decode/mla_decode.h)
  add_custom_target(man_pages ALL DEPENDS ${mla_man_pages})
endif()

if(TARGET mla-tune AND NOT CMAKE_CROSSCOMPILING)
  set(MLA_COMPLETION_DIR ${CMAKE_BINARY_DIR}/completions)
  file(MAKE_DIRECTORY ${MLA_COMPLETION_DIR})
  set(completions "")
  foreach(shell bash zsh fish)
    add_custom_command(
      OUTPUT ${MLA_COMPLETION_DIR}/${shell}
      COMMAND sh -c "\"$0\" completion \"$1\" >\"$2\"" $<TARGET_FILE:mla-tune> ${shell} ${MLA_COMPLETION_DIR}/${shell}
      DEPENDS mla-tune
      VERBATIM)
    list(APPEND completions ${MLA_COMPLETION_DIR}/${shell})
  endforeach()
  add_custom_target(completions ALL DEPENDS ${completions})
endif()

find_program(MLA_DOXYGEN doxygen DOC "Makes the pages of the C interface")
if(MLA_DOXYGEN)
  configure_file(${PROJECT_SOURCE_DIR}/tools/doc/Doxyfile.in ${CMAKE_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(doc
    COMMAND ${MLA_DOXYGEN} ${CMAKE_BINARY_DIR}/Doxyfile
    COMMENT "The C interface in ${CMAKE_BINARY_DIR}/doc/html"
    VERBATIM)
endif()
