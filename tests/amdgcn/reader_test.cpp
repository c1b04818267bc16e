// SPDX-License-Identifier: MIT
// Reading disassembly and metadata: the text below is what llvm-objdump and llvm-readobj 22 print.
#define BOOST_TEST_MODULE amdgcn_reader
#include <boost/test/unit_test.hpp>

#include "kernels/amdgcn/code_object.h"
#include "kernels/amdgcn/loops.h"
#include "kernels/error.h"

namespace {

using namespace mla::amdgcn;

Instruction instruction(const std::string& text,
                        const std::string& place = "000000001B00: 00000000") {
  const std::optional<Instruction> parsed = parse_instruction("\t" + text + "   // " + place);
  BOOST_REQUIRE(parsed);
  return *parsed;
}

constexpr const char* kDisassembly = R"(
v.co:	file format elf64-amdgpu

Disassembly of section .rodata:

0000000000000a80 <sum.kd>:
.amdhsa_kernel sum
	.amdhsa_group_segment_fixed_size 1024
	.amdhsa_system_sgpr_workgroup_id_x 1
	.amdhsa_system_vgpr_workitem_id 0
.end_amdhsa_kernel

Disassembly of section .text:

0000000000001b00 <sum>:
	s_mov_b32 s2, 0                                            // 000000001B00: BE820080
	s_mov_b32 s3, 0                                            // 000000001B04: BE830080
	v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]    // 000000001B08: D3E10000 04020D04
	s_add_i32 s3, s3, 1                                        // 000000001B10: 81038103
	s_cbranch_scc1 65532                                       // 000000001B14: BF85FFFC <sum+0x8>
	s_add_i32 s2, s2, 1                                        // 000000001B18: 81028102
	s_cbranch_scc1 65529                                       // 000000001B1C: BF85FFF9 <sum+0x4>
	s_endpgm                                                   // 000000001B20: BF810000
)";

constexpr const char* kNotes = R"(
        AMDGPU Metadata: ---
amdhsa.kernels:
  - .agpr_count:     4
    .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         12
        .size:           2
        .value_kind:     hidden_group_size_x
    .group_segment_fixed_size: 1024
    .kernarg_segment_size: 288
    .max_flat_workgroup_size: 256
    .name:           sum
    .private_segment_fixed_size: 0
    .sgpr_count:     14
    .sgpr_spill_count: 0
    .symbol:         sum.kd
    .vgpr_count:     18
    .vgpr_spill_count: 3
amdhsa.target:   'amdgcn-amd-amdhsa--gfx942:sramecc+'
amdhsa.version:
  - 1
  - 2
)";

BOOST_AUTO_TEST_CASE(an_instruction_is_taken_apart) {
  const Instruction load = instruction("global_load_dwordx4 v[6:9], v[4:5], off offset:-16 sc0 nt");
  BOOST_TEST(load.mnemonic == "global_load_dwordx4");
  BOOST_TEST(load.address == 0x1B00u);
  BOOST_REQUIRE(load.operands.size() == 3u);
  BOOST_TEST((load.operands[0].kind == OperandKind::kVector));
  BOOST_TEST(load.operands[0].first == 6);
  BOOST_TEST(load.operands[0].count == 4);
  BOOST_TEST((load.operands[2].kind == OperandKind::kText));
  BOOST_TEST(load.value_of("offset").value() == -16);
  BOOST_TEST(load.has("nt"));
  BOOST_TEST(!load.has("sc"));
}

BOOST_AUTO_TEST_CASE(the_encoding_is_split_from_the_mnemonic) {
  const Instruction add = instruction("v_add_f32_e64 v2, -v6, |v7| clamp mul:2");
  BOOST_TEST(add.mnemonic == "v_add_f32");
  BOOST_TEST((add.encoding == Encoding::kE64));
  BOOST_TEST(add.operands[1].negate);
  BOOST_TEST(add.operands[1].first == 6);
  BOOST_TEST(add.operands[2].absolute);
  BOOST_TEST(add.value_of("mul").value() == 2);
  const Instruction dpp =
      instruction("v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf");
  BOOST_TEST((dpp.encoding == Encoding::kDpp));
  BOOST_TEST(dpp.list_of("quad_perm") == (std::vector<int>{1, 0, 3, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(dpp.value_of("row_mask").value() == 15);
}

BOOST_AUTO_TEST_CASE(negated_pairs_are_operands_and_not_modifiers) {
  const Instruction fma = instruction("v_fma_f64 v[0:1], -v[2:3], |v[4:5]|, 1.0");
  BOOST_REQUIRE(fma.operands.size() == 4u);
  BOOST_TEST(fma.operands[1].negate);
  BOOST_TEST(fma.operands[1].count == 2);
  BOOST_TEST(fma.operands[2].absolute);
  BOOST_TEST(fma.operands[3].number == 1.0);
}

BOOST_AUTO_TEST_CASE(named_registers_and_constants_are_read) {
  const Instruction select = instruction("s_cselect_b64 vcc, exec, -1");
  BOOST_TEST(select.operands[0].first == kVccRegister);
  BOOST_TEST(select.operands[0].count == 2);
  BOOST_TEST(select.operands[1].first == kExecRegister);
  BOOST_TEST(select.operands[2].integer == -1);
  BOOST_TEST(instruction("s_mov_b32 m0, 0xff800000").operands[1].integer == 0xFF800000);
  const Instruction getreg = instruction("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID, 0, 4)");
  BOOST_REQUIRE(getreg.operands.size() == 2u);
  BOOST_TEST(getreg.operands[1].text == "hwreg(HW_REG_XCC_ID, 0, 4)");
}

BOOST_AUTO_TEST_CASE(waits_name_what_may_stay_outstanding) {
  const auto both = wait_counts(instruction("s_waitcnt vmcnt(24) lgkmcnt(0)"));
  BOOST_REQUIRE(both);
  BOOST_TEST(both->vm == 24);
  BOOST_TEST(both->lgkm == 0);
  BOOST_TEST(wait_counts(instruction("s_waitcnt lgkmcnt(3)"))->vm == WaitCounts::kVmMax);
  BOOST_TEST(!wait_counts(instruction("s_nop 0")));
}

BOOST_AUTO_TEST_CASE(loads_to_lds_are_told_from_loads) {
  BOOST_TEST(is_load_to_lds(instruction("global_load_lds_dwordx4 v[0:1], off")));
  BOOST_TEST(is_load_to_lds(instruction("buffer_load_dword v1, s[0:3], 0 offen lds")));
  BOOST_TEST(!is_load_to_lds(instruction("global_load_dword v1, v[2:3], off")));
}

BOOST_AUTO_TEST_CASE(branches_count_dwords_from_the_next_instruction) {
  const Instruction forward =
      instruction("s_cbranch_execz 22", "000000001B2C: BF880016 <vadd+0x88>");
  BOOST_TEST(forward.branch_target.value() == 0x1B88u);
  const Instruction back = instruction("s_branch 65535", "000000001B2C: BF82FFFF");
  BOOST_TEST(back.branch_target.value() == 0x1B2Cu);
}

BOOST_AUTO_TEST_CASE(a_code_object_has_metadata_descriptor_and_code) {
  const CodeObject code_object = parse_code_object(kDisassembly, kNotes);
  BOOST_TEST(code_object.target == "gfx942");
  const Kernel& kernel = code_object.kernel("sum");
  BOOST_TEST(kernel.instructions.size() == 8u);
  BOOST_TEST(kernel.metadata.vgprs == 18);
  BOOST_TEST(kernel.metadata.agprs == 4);
  BOOST_TEST(kernel.metadata.vgpr_spills == 3);
  BOOST_TEST(kernel.metadata.static_lds_bytes == 1024);
  BOOST_TEST(kernel.metadata.max_workgroup_size == 256);
  BOOST_REQUIRE(kernel.metadata.arguments.size() == 2u);
  BOOST_TEST(!kernel.metadata.arguments[0].is_hidden());
  BOOST_TEST(kernel.metadata.arguments[1].is_hidden());
  BOOST_TEST(kernel.metadata.arguments[1].offset_bytes == 12);
  BOOST_TEST(kernel.descriptor.at("system_sgpr_workgroup_id_x") == 1);
  BOOST_CHECK_THROW(code_object.kernel("max"), mla::Error);
}

BOOST_AUTO_TEST_CASE(text_of_something_else_is_refused) {
  BOOST_CHECK_THROW(parse_code_object(kDisassembly, "no notes"), mla::Error);
  BOOST_CHECK_THROW(parse_code_object("no code", kNotes), mla::Error);
}

BOOST_AUTO_TEST_CASE(the_innermost_loop_with_a_matrix_instruction_is_found) {
  const CodeObject code_object = parse_code_object(kDisassembly, kNotes);
  const std::vector<Instruction>& code = code_object.kernel("sum").instructions;
  BOOST_TEST(find_loops(code).size() == 2u);
  const std::vector<Loop> inner = innermost_loops_with(code, "v_mfma_");
  BOOST_REQUIRE(inner.size() == 1u);
  BOOST_TEST(inner[0].begin == 2u);
  BOOST_TEST(inner[0].end == 5u);
  BOOST_TEST(count(code, inner[0], "v_mfma_") == 1u);
  BOOST_TEST(innermost_loops_with(code, "ds_").empty());
}

}  // namespace
