// SPDX-License-Identifier: MIT
// Global memory: 64-bit and scalar-base addresses, buffers, loads to LDS, atomics, scalar loads
// (CDNA3 ISA manual, sections 8 to 10; CDNA4 for the 16-byte load to LDS).
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <numeric>

#include "kernels/error.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

// Word i is 0x1000 + i.
struct Numbers {
  std::vector<uint32_t> words = std::vector<uint32_t>(1024);
  OneWave one;

  explicit Numbers(Permission permission = Permission::kReadWrite) {
    std::iota(words.begin(), words.end(), 0x1000u);
    one.memory.add(words.data(), words.size() * 4, "numbers", permission);
    one.set_address(0, words.data());
    one.wave.set_scalar64(0, reinterpret_cast<uint64_t>(words.data()));
    one.fill(2, [](int lane) { return 16 * lane; });  // an offset a lane
  }
  // s[8:11]: a raw buffer over the first `bytes`.
  void set_buffer(uint32_t bytes) {
    one.wave.set_scalar64(8, reinterpret_cast<uint64_t>(words.data()));
    one.s(10) = bytes;
    one.s(11) = 0x00027000;
  }
};

BOOST_AUTO_TEST_SUITE(global)

BOOST_AUTO_TEST_CASE(loads_add_a_vector_address_or_a_scalar_base_and_an_offset) {
  Numbers n;
  n.one.run(
      "global_load_dword v4, v[0:1], off offset:8\n global_load_dwordx2 v[6:7], v2, s[0:1] "
      "offset:4\n"
      "global_load_dwordx3 v[8:10], v2, s[0:1]\n global_load_dwordx4 v[12:15], v2, s[0:1] "
      "offset:16");
  BOOST_TEST(n.one.v(4)[63] == 0x1002u);
  BOOST_TEST(n.one.v(6)[3] == 0x1000u + 4 * 3 + 1);
  BOOST_TEST(n.one.v(7)[3] == 0x1000u + 4 * 3 + 2);
  BOOST_TEST(n.one.v(10)[5] == 0x1000u + 4 * 5 + 2);
  BOOST_TEST(n.one.v(15)[63 - 1] == 0x1000u + 4 * 62 + 7);
  n.one.set_exec(~uint64_t{1});  // lane 0 would be in front of the memory
  n.one.run("global_load_dword v4, v2, s[0:1] offset:-16");
  BOOST_TEST(n.one.v(4)[1] == 0x1000u);
  n.one.set_exec(1);
  BOOST_CHECK_THROW(n.one.run("global_load_dword v4, v2, s[0:1] offset:-16"), mla::Error);
}

// The global and the buffer form of an access at an offset from the start of the numbers.
std::vector<std::string> both_forms(const std::string& access,
                                    const std::string& width,
                                    int offset) {
  const std::string tail = " offset:" + std::to_string(offset);
  const std::string registers = access == "load"     ? "v5"
                                : width == "dwordx2" ? "v[4:5]"
                                : width == "dwordx3" ? "v[4:6]"
                                : width == "dwordx4" ? "v[4:7]"
                                                     : "v4";
  const std::string global =
      access == "load" ? registers + ", v[0:1], off" : "v[0:1], " + registers + ", off";
  return {"global_" + access + "_" + width + " " + global + tail,
          "buffer_" + access + "_" + width + " " + registers + ", off, s[8:11], 0" + tail};
}

BOOST_AUTO_TEST_CASE(short_loads_extend_or_keep_the_other_half) {
  struct Case {
    const char* width;
    int offset;
    uint32_t expected;
  };
  constexpr Case kCases[] = {{"ubyte", 1, 0x82},
                             {"sbyte", 1, 0xFFFFFF82},
                             {"ushort", 2, 0x8483},
                             {"sshort", 2, 0xFFFF8483},
                             {"ubyte_d16", 0, 0x11220081},
                             {"ubyte_d16_hi", 0, 0x00813344},
                             {"short_d16", 0, 0x11228281},
                             {"short_d16_hi", 0, 0x82813344}};
  std::vector<std::string> texts;
  for (const Case& c : kCases) {
    for (const std::string& text : both_forms("load", c.width, c.offset)) texts.push_back(text);
  }
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    Numbers n;
    n.words[0] = 0x84838281;
    n.set_buffer(4096);
    n.one.v(5).fill(0x11223344);
    n.one.run(assembled[i]);
    BOOST_TEST(n.one.v(5)[9] == kCases[i / 2].expected, texts[i]);
  }
}

BOOST_AUTO_TEST_CASE(stores_of_all_widths_write_what_they_name_and_nothing_else) {
  struct Case {
    const char* width;
    std::vector<uint32_t> expected;  // words 1 to 5
  };
  const Case cases[] = {{"byte", {0x10D4, 0x1002, 0x1003, 0x1004, 0x1005}},
                        {"byte_d16_hi", {0x10B0, 0x1002, 0x1003, 0x1004, 0x1005}},
                        {"short", {0xC0D4, 0x1002, 0x1003, 0x1004, 0x1005}},
                        {"short_d16_hi", {0xA0B0, 0x1002, 0x1003, 0x1004, 0x1005}},
                        {"dword", {0xA0B0C0D4, 0x1002, 0x1003, 0x1004, 0x1005}},
                        {"dwordx2", {0xA0B0C0D4, 0xA0B0C0D5, 0x1003, 0x1004, 0x1005}},
                        {"dwordx3", {0xA0B0C0D4, 0xA0B0C0D5, 0xA0B0C0D6, 0x1004, 0x1005}},
                        {"dwordx4", {0xA0B0C0D4, 0xA0B0C0D5, 0xA0B0C0D6, 0xA0B0C0D7, 0x1005}}};
  std::vector<std::string> texts;
  for (const Case& c : cases) {
    for (const std::string& text : both_forms("store", c.width, 4)) texts.push_back(text);
  }
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    Numbers n;
    n.set_buffer(4096);
    n.one.set_exec(1);
    for (int v = 4; v < 8; ++v) n.one.v(v).fill(0xA0B0C0D0u + static_cast<uint32_t>(v));
    n.one.run(assembled[i]);
    BOOST_TEST(n.words[0] == 0x1000u);
    const std::vector<uint32_t> written(n.words.begin() + 1, n.words.begin() + 6);
    BOOST_TEST(written == cases[i / 2].expected, texts[i]);
  }
}

// Address: base + vector offset + scalar offset + immediate; beyond the last byte a load gives 0
// and a store is dropped.
BOOST_AUTO_TEST_CASE(buffers_add_three_offsets_and_end_where_their_descriptor_says) {
  Numbers n;
  n.set_buffer(64 * 4);
  n.one.s(12) = 8;
  n.one.run(
      "buffer_load_dword v4, v2, s[8:11], s12 offen offset:4\n buffer_load_dwordx2 v[6:7], v2, "
      "s[8:11], 0 offen\n"
      "buffer_load_dwordx3 v[8:10], off, s[8:11], 16\n buffer_load_dwordx4 v[12:15], v2, s[8:11], "
      "0 offen\n"
      "buffer_store_dword v2, v2, s[8:11], 0 offen");
  BOOST_TEST(n.one.v(4)[2] == 0x1000u + 8 + 3);
  BOOST_TEST(n.one.v(4)[16] == 0u);
  BOOST_TEST(n.one.v(7)[15] == 0x1000u + 61);
  BOOST_TEST(n.one.v(7)[16] == 0u);
  BOOST_TEST(n.one.v(10)[0] == 0x1006u);
  BOOST_TEST(n.one.v(15)[15] == 0x103Fu);
  BOOST_TEST(n.words[60] == 240u);
  BOOST_TEST(n.words[64] == 0x1040u);
}

BOOST_AUTO_TEST_CASE(an_access_inside_a_buffer_but_outside_of_memory_is_an_error) {
  Numbers n;
  n.set_buffer(8192);
  n.one.v(2).fill(4096);
  BOOST_CHECK_THROW(n.one.run("buffer_load_dword v4, v2, s[8:11], 0 offen"), mla::Error);
}

BOOST_AUTO_TEST_CASE(a_buffer_with_a_stride_is_refused) {
  Numbers n;
  n.set_buffer(4096);
  n.one.s(9) |= 16u << 16;
  BOOST_CHECK_THROW(n.one.run("buffer_load_dword v4, off, s[8:11], 0"), mla::Error);
}

uint32_t local_word(OneWave* one, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, one->local.at(at, 4), 4);
  return value;
}

// LDS address: M0 + immediate offset + lane x size; the immediate moves the global address as well.
BOOST_AUTO_TEST_CASE(loads_to_lds_put_lanes_side_by_side) {
  Numbers n;
  n.set_buffer(64 * 4);
  n.one.run(
      "s_movk_i32 m0, 0x100\n global_load_lds_dword v2, s[0:1]\n s_movk_i32 m0, 0x400\n"
      "global_load_lds_dwordx4 v2, s[0:1]\n s_movk_i32 m0, 0x800\n global_load_lds_dword v2, "
      "s[0:1] offset:4\n"
      "s_movk_i32 m0, 0xc00\n buffer_load_dword v2, s[8:11], 0 offen lds\n s_movk_i32 m0, 0x1000\n"
      "buffer_load_dwordx4 v2, s[8:11], 0 offen lds");
  for (const size_t lane : {0u, 5u, 63u}) {
    BOOST_TEST(local_word(&n.one, 0x100 + 4 * lane) == 0x1000 + 4 * lane);
    BOOST_TEST(local_word(&n.one, 0x400 + 16 * lane + 12) == 0x1003 + 4 * lane);
    BOOST_TEST(local_word(&n.one, 0x804 + 4 * lane) == 0x1001 + 4 * lane);
    const bool inside = lane < 16;  // of the buffer
    BOOST_TEST(local_word(&n.one, 0xC00 + 4 * lane) == (inside ? 0x1000 + 4 * lane : 0));
    BOOST_TEST(local_word(&n.one, 0x1000 + 16 * lane + 4) == (inside ? 0x1001 + 4 * lane : 0));
  }
}

BOOST_AUTO_TEST_CASE(loads_to_lds_skip_inactive_lanes_and_stay_inside) {
  Numbers n;
  n.one.set_exec(2);
  n.one.run("s_mov_b32 m0, 0\n global_load_lds_dword v2, s[0:1]");
  BOOST_TEST(local_word(&n.one, 0) == 0xFFFFFFFFu);
  BOOST_TEST(local_word(&n.one, 4) == 0x1004u);
  BOOST_CHECK_THROW(n.one.run("s_movk_i32 m0, 0x4000\n global_load_lds_dword v2, s[0:1]"),
                    mla::Error);
  BOOST_CHECK_THROW(n.one.run("s_mov_b32 m0, 2\n global_load_lds_dword v2, s[0:1]"), mla::Error);
}

BOOST_AUTO_TEST_CASE(atomic_additions_of_all_lanes_add_up_and_return_what_was_there) {
  Numbers n;
  n.words[0] = 10;
  n.one.v(4).fill(3);
  n.one.run("global_atomic_add v5, v[0:1], v4, off sc0");
  BOOST_TEST(n.words[0] == 10u + 64 * 3);
  BOOST_TEST(n.one.v(5)[0] == 10u);
  BOOST_TEST(n.one.v(5)[63] == 10u + 63 * 3);
  const float start = 0.5f;
  std::memcpy(&n.words[0], &start, 4);
  n.one.v(4).fill(std::bit_cast<uint32_t>(2.0f));
  n.one.v(5).fill(77);
  n.one.run("global_atomic_add_f32 v[0:1], v4, off");
  BOOST_TEST(std::bit_cast<float>(n.words[0]) == 128.5f);
  BOOST_TEST(n.one.v(5)[0] == 77u);
}

BOOST_AUTO_TEST_CASE(scalar_loads_of_all_widths) {
  Numbers n;
  n.set_buffer(32);
  n.one.s(5) = 12;
  n.one.run(
      "s_load_dword s4, s[0:1], 0x8\n s_load_dwordx2 s[6:7], s[0:1], s5\n s_load_dwordx4 s[16:19], "
      "s[0:1], s5 offset:0x10\n"
      "s_load_dwordx8 s[24:31], s[0:1], 0x40\n s_load_dwordx16 s[36:51], s[0:1], 0x80");
  BOOST_TEST(n.one.s(4) == 0x1002u);
  BOOST_TEST(n.one.s(7) == 0x1004u);
  BOOST_TEST(n.one.s(19) == 0x1000u + 3 + 4 + 3);
  BOOST_TEST(n.one.s(31) == 0x1017u);
  BOOST_TEST(n.one.s(51) == 0x102Fu);
  n.one.run(
      "s_buffer_load_dword s4, s[8:11], 0x4\n s_buffer_load_dwordx2 s[6:7], s[8:11], 0x8\n"
      "s_buffer_load_dwordx4 s[16:19], s[8:11], 0x18\n s_buffer_load_dwordx8 s[24:31], s[8:11], "
      "0x0\n"
      "s_buffer_load_dwordx16 s[36:51], s[8:11], 0x0");
  BOOST_TEST(n.one.s(4) == 0x1001u);
  BOOST_TEST(n.one.s(7) == 0x1003u);
  BOOST_TEST(n.one.s(17) == 0x1007u);
  BOOST_TEST(n.one.s(18) == 0u);  // beyond the 32 bytes
  BOOST_TEST(n.one.s(31) == 0x1007u);
  BOOST_TEST(n.one.s(44) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
