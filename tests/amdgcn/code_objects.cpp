// SPDX-License-Identifier: MIT
#include "tests/amdgcn/code_objects.h"

namespace mla::amdgcn {

CodeObject built_code_object(const std::string& name, const std::string& target) {
  return read_code_object(std::string(MLA_TEST_CODE_OBJECTS) + "/" + name + "." + target + ".co",
                          {MLA_LLVM_OBJDUMP, MLA_LLVM_READOBJ});
}

}  // namespace mla::amdgcn
