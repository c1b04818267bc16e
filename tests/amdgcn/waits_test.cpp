// SPDX-License-Identifier: MIT
// The memory model: what a wave may rely on before and behind an s_waitcnt, when memory is as late
// as it may be and when it is as early (LLVM's AMDGPU usage guide, memory model; CDNA3 ISA manual,
// section 4.4).
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "kernels/error.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

struct Late {
  std::vector<uint32_t> words = std::vector<uint32_t>(256, 42);
  OneWave one{Completion::kLate};

  Late() {
    one.memory.add(words.data(), words.size() * 4, "words", Permission::kReadWrite);
    one.wave.set_scalar64(0, reinterpret_cast<uint64_t>(words.data()));
    one.fill(0, [](int lane) { return 4 * lane; });
  }
};

// A text and the register that it uses too soon; empty where every use is covered.
struct Case {
  std::string text;
  std::string too_soon;
};

void check(const std::vector<Case>& cases) {
  std::vector<std::string> texts;
  for (const Case& c : cases) texts.push_back(c.text);
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string error;
    try {
      Late().one.run(assembled[i]);
    } catch (const mla::Error& caught) {
      error = caught.what();
    }
    const std::string expected =
        cases[i].too_soon.empty()
            ? ""
            : cases[i].too_soon + " is used while its load may still be outstanding";
    BOOST_TEST(error == expected, cases[i].text << ": " << error);
  }
}

const std::string kLoad = "global_load_dword v1, v0, s[0:1]\n";
const std::string kLoadOther = "global_load_dword v2, v0, s[0:1]\n";
const std::string kRead = "ds_read_b32 v1, v0\n";
const std::string kReadOther = "ds_read_b32 v2, v0\n";
const std::string kScalarLoad = "s_load_dword s4, s[0:1], 0x0\n";

BOOST_AUTO_TEST_SUITE(waits)

BOOST_AUTO_TEST_CASE(a_loaded_register_is_not_used_before_its_wait) {
  check({{kLoad + "v_add_u32 v3, v1, v1", "v1"},
         {"global_load_dwordx2 v[2:3], v0, s[0:1]\n v_mov_b32 v4, v3", "v3"},
         {kScalarLoad + "s_add_u32 s5, s4, s4", "s4"},
         {kRead + "v_mov_b32 v3, v1", "v1"},
         {kLoad + "s_waitcnt vmcnt(0)\n v_add_u32 v3, v1, v1", ""},
         {kRead + "s_waitcnt lgkmcnt(0)\n v_mov_b32 v3, v1", ""},
         {kScalarLoad + "s_waitcnt lgkmcnt(0)\n s_mov_b32 s6, s4", ""}});
}

BOOST_AUTO_TEST_CASE(a_register_is_not_overwritten_while_its_load_is_outstanding) {
  check({{kLoad + "v_mov_b32 v1, 0", "v1"}});
}

BOOST_AUTO_TEST_CASE(a_wait_for_the_other_counter_does_not_help) {
  check({{kLoad + "s_waitcnt lgkmcnt(0)\n v_mov_b32 v3, v1", "v1"},
         {kRead + "s_waitcnt vmcnt(0)\n v_mov_b32 v3, v1", "v1"}});
}

BOOST_AUTO_TEST_CASE(a_partial_wait_retires_the_oldest_and_stores_count_as_well) {
  check({{kLoad + kLoadOther + "s_waitcnt vmcnt(1)\n v_mov_b32 v3, v1", ""},
         {kLoad + kLoadOther + "s_waitcnt vmcnt(1)\n v_mov_b32 v3, v2", "v2"},
         {kLoad + "global_store_dword v0, v0, s[0:1]\n s_waitcnt vmcnt(1)\n v_mov_b32 v3, v1", ""},
         {kRead + kReadOther + "s_waitcnt lgkmcnt(1)\n v_mov_b32 v3, v1", ""},
         {kRead + kReadOther + "s_waitcnt lgkmcnt(1)\n v_mov_b32 v3, v2", "v2"}});
}

BOOST_AUTO_TEST_CASE(scalar_loads_may_overtake_so_that_only_zero_is_sure) {
  check({{kScalarLoad + "s_load_dword s5, s[0:1], 0x4\n s_waitcnt lgkmcnt(1)\n s_mov_b32 s6, s4",
          "s4"},
         // The read of LDS may be the one that is left.
         {kRead + kScalarLoad + "s_waitcnt lgkmcnt(1)\n v_mov_b32 v3, v1", "v1"},
         {kRead + kReadOther + kScalarLoad + "s_waitcnt lgkmcnt(1)\n v_mov_b32 v3, v1", ""}});
}

// The 64th load waits for the first, since the counter ends at 63.
BOOST_AUTO_TEST_CASE(a_full_counter_holds_the_next_instruction_up) {
  std::string loads;
  for (int i = 1; i <= 64; ++i)
    loads += "global_load_dword v" + std::to_string(i) + ", v0, s[0:1]\n";
  check({{loads + "v_mov_b32 v100, v1", ""}, {loads + "v_mov_b32 v100, v2", "v2"}});
}

BOOST_AUTO_TEST_CASE(what_is_outstanding_at_the_end_still_takes_place) {
  Late late;
  late.one.run("global_load_dword v1, v0, s[0:1]\n global_store_dword v0, v0, s[0:1] offset:256");
  BOOST_TEST(late.one.v(1)[5] == 42u);
  BOOST_TEST(late.words[64 + 5] == 20u);
}

BOOST_AUTO_TEST_CASE(copies_into_lds_arrive_with_their_wait) {
  const std::string copy_and_read = "s_mov_b32 m0, 0\n global_load_lds_dword v0, s[0:1]\n";
  Late unwaited;
  unwaited.one.run(copy_and_read + "ds_read_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v2, v1");
  BOOST_TEST(unwaited.one.v(2)[9] == 0xFFFFFFFFu);  // NaN: what local memory starts with
  Late waited;
  waited.one.run(
      copy_and_read +
      "s_waitcnt vmcnt(0)\n ds_read_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v2, v1");
  BOOST_TEST(waited.one.v(2)[9] == 42u);
}

BOOST_AUTO_TEST_CASE(early_memory_is_complete_when_it_is_issued) {
  Late memory;
  OneWave early(Completion::kEarly);
  early.memory = memory.one.memory;
  early.wave.set_scalar64(0, reinterpret_cast<uint64_t>(memory.words.data()));
  early.fill(0, [](int lane) { return 4 * lane; });
  early.run(
      "s_mov_b32 m0, 0\n global_load_lds_dword v0, s[0:1]\n ds_read_b32 v1, v0\n v_mov_b32 v2, v1");
  BOOST_TEST(early.v(2)[9] == 42u);
}

BOOST_AUTO_TEST_CASE(lds_writes_reach_other_waves_behind_their_wait) {
  Late late;
  const auto word = [&] {
    uint32_t value = 0;
    std::memcpy(&value, late.one.local.at(36, 4), 4);
    return value;
  };
  late.one.run("ds_write_b32 v0, v0\n s_barrier\n s_waitcnt lgkmcnt(0)\n s_barrier");
  BOOST_TEST(word() == 0xFFFFFFFFu);
  late.one.resume();
  BOOST_TEST(word() == 36u);
}

BOOST_AUTO_TEST_CASE(the_data_of_a_store_are_taken_when_it_is_issued) {
  Late late;
  late.one.v(1).fill(7);
  late.one.run(
      "global_store_dword v0, v1, s[0:1]\n v_mov_b32 v1, 8\n ds_write_b32 v0, v1\n v_mov_b32 v1, "
      "9");
  BOOST_TEST(late.words[3] == 7u);
  uint32_t local = 0;
  std::memcpy(&local, late.one.local.at(12, 4), 4);
  BOOST_TEST(local == 8u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
