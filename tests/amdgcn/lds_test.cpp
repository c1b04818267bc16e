// SPDX-License-Identifier: MIT
// LDS instructions (CDNA3 ISA manual, sections 11 and 12.13; CDNA4 11.4 for the transposing read).
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "kernels/error.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

BOOST_AUTO_TEST_SUITE(lds)

// Byte i of local memory is i modulo 251.
void number_bytes(OneWave* one) {
  for (size_t i = 0; i < OneWave::kLocalBytes; ++i)
    *one->local.at(i, 1) = static_cast<std::byte>(i % 251);
}

uint32_t numbered(size_t at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<uint32_t>((at + static_cast<size_t>(i)) % 251) << (8 * i);
  return value;
}

BOOST_AUTO_TEST_CASE(reads_of_all_widths_start_at_register_plus_offset) {
  OneWave one;
  number_bytes(&one);
  one.fill(0, [](int lane) { return 16 * lane; });
  one.run(
      "ds_read_b32 v1, v0 offset:4\n ds_read_b64 v[2:3], v0 offset:8\n ds_read_b96 v[4:6], v0 "
      "offset:16\n"
      "ds_read_b128 v[8:11], v0 offset:4096");
  for (const size_t lane : {0u, 1u, 63u}) {
    BOOST_TEST(one.v(1)[lane] == numbered(16 * lane + 4, 4));
    BOOST_TEST(one.v(3)[lane] == numbered(16 * lane + 12, 4));
    for (size_t i = 0; i < 3; ++i)
      BOOST_TEST(one.v(4 + static_cast<int>(i))[lane] == numbered(16 * lane + 16 + 4 * i, 4));
    for (size_t i = 0; i < 4; ++i)
      BOOST_TEST(one.v(8 + static_cast<int>(i))[lane] == numbered(16 * lane + 4096 + 4 * i, 4));
  }
}

BOOST_AUTO_TEST_CASE(short_reads_extend_or_keep_the_other_half) {
  OneWave one;
  for (size_t i = 0; i < 4; ++i)
    *one.local.at(i, 1) = static_cast<std::byte>(0x81 + i);  // 0x84838281
  one.v(0).fill(0);
  for (int i = 1; i < 9; ++i) one.v(i).fill(0x11223344);
  one.run(
      "ds_read_u8 v1, v0\n ds_read_i8 v2, v0\n ds_read_u16 v3, v0\n ds_read_i16 v4, v0 offset:2\n"
      "ds_read_u16_d16 v5, v0\n ds_read_u16_d16_hi v6, v0\n ds_read_u8_d16 v7, v0\n "
      "ds_read_u8_d16_hi v8, v0");
  BOOST_TEST(one.v(1)[0] == 0x81u);
  BOOST_TEST(one.v(2)[0] == 0xFFFFFF81u);
  BOOST_TEST(one.v(3)[0] == 0x8281u);
  BOOST_TEST(one.v(4)[0] == 0xFFFF8483u);
  BOOST_TEST(one.v(5)[0] == 0x11228281u);
  BOOST_TEST(one.v(6)[0] == 0x82813344u);
  BOOST_TEST(one.v(7)[0] == 0x11220081u);
  BOOST_TEST(one.v(8)[0] == 0x00813344u);
}

BOOST_AUTO_TEST_CASE(two_element_reads_scale_their_offsets_by_the_element_or_64_of_it) {
  OneWave one;
  number_bytes(&one);
  one.v(0).fill(8);
  one.run(
      "ds_read2_b32 v[2:3], v0 offset0:1 offset1:5\n ds_read2st64_b32 v[4:5], v0 offset0:1 "
      "offset1:2\n"
      "ds_read2_b64 v[6:9], v0 offset0:1 offset1:3\n ds_read2st64_b64 v[10:13], v0 offset1:1");
  BOOST_TEST(one.v(2)[7] == numbered(8 + 4, 4));
  BOOST_TEST(one.v(3)[7] == numbered(8 + 20, 4));
  BOOST_TEST(one.v(4)[7] == numbered(8 + 256, 4));
  BOOST_TEST(one.v(5)[7] == numbered(8 + 512, 4));
  BOOST_TEST(one.v(7)[7] == numbered(8 + 8 + 4, 4));
  BOOST_TEST(one.v(8)[7] == numbered(8 + 24, 4));
  BOOST_TEST(one.v(10)[7] == numbered(8, 4));
  BOOST_TEST(one.v(12)[7] == numbered(8 + 512, 4));
}

// What a lane wrote, read back from host memory.
uint32_t stored(OneWave* one, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, one->local.at(at, 4), 4);
  return value;
}

// v_i of every lane is i times 0x11111111; lane 0 alone is active.
OneWave one_writer() {
  OneWave one;
  one.set_exec(1);
  for (uint32_t i = 0; i < 8; ++i) one.v(static_cast<int>(i)).fill(0x11111111 * i);
  return one;
}

BOOST_AUTO_TEST_CASE(writes_of_all_widths_store_what_they_name) {
  OneWave one = one_writer();
  one.run(
      "ds_write_b32 v0, v1\n ds_write_b64 v0, v[2:3] offset:8\n ds_write_b96 v0, v[4:6] offset:32\n"
      "ds_write_b128 v0, v[4:7] offset:64");
  BOOST_TEST(stored(&one, 0) == 0x11111111u);
  BOOST_TEST(stored(&one, 4) == 0xFFFFFFFFu);
  BOOST_TEST(stored(&one, 12) == 0x33333333u);
  BOOST_TEST(stored(&one, 40) == 0x66666666u);
  BOOST_TEST(stored(&one, 44) == 0xFFFFFFFFu);
  BOOST_TEST(stored(&one, 64) == 0x44444444u);
  BOOST_TEST(stored(&one, 76) == 0x77777777u);
}

BOOST_AUTO_TEST_CASE(short_writes_take_the_half_they_name) {
  OneWave one;
  one.set_exec(1);
  one.v(0).fill(0);
  one.v(1).fill(0x44332211);
  one.run(
      "ds_write_b8 v0, v1\n ds_write_b16 v0, v1 offset:4\n ds_write_b8_d16_hi v0, v1 offset:8\n"
      "ds_write_b16_d16_hi v0, v1 offset:12");
  BOOST_TEST(stored(&one, 0) == 0xFFFFFF11u);
  BOOST_TEST(stored(&one, 4) == 0xFFFF2211u);
  BOOST_TEST(stored(&one, 8) == 0xFFFFFF33u);
  BOOST_TEST(stored(&one, 12) == 0xFFFF4433u);
}

BOOST_AUTO_TEST_CASE(two_element_writes_mirror_the_reads) {
  OneWave one = one_writer();
  one.run(
      "ds_write2_b32 v0, v1, v2 offset0:1 offset1:3\n ds_write2st64_b32 v0, v1, v2 offset0:1 "
      "offset1:2\n"
      "ds_write2_b64 v0, v[2:3], v[4:5] offset0:4 offset1:6\n"
      "ds_write2st64_b64 v0, v[2:3], v[4:5] offset0:3 offset1:4");
  BOOST_TEST(stored(&one, 4) == 0x11111111u);
  BOOST_TEST(stored(&one, 12) == 0x22222222u);
  BOOST_TEST(stored(&one, 256) == 0x11111111u);
  BOOST_TEST(stored(&one, 512) == 0x22222222u);
  BOOST_TEST(stored(&one, 36) == 0x33333333u);
  BOOST_TEST(stored(&one, 48) == 0x44444444u);
  BOOST_TEST(stored(&one, 1536) == 0x22222222u);
  BOOST_TEST(stored(&one, 2052) == 0x55555555u);
}

// Every 16 lanes read 4 rows of 16 values, four lanes a row; lane i of them gets column i, row 0
// lowest.
BOOST_AUTO_TEST_CASE(the_transposing_read_gives_each_lane_a_column) {
  constexpr int kRowBytes = 64;
  OneWave one;
  for (int group = 0; group < 4; ++group) {
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 16; ++column) {
        const auto value = static_cast<uint16_t>(1000 * group + 100 * row + column);
        std::memcpy(
            one.local.at(static_cast<size_t>((4 * group + row) * kRowBytes + 2 * column), 2),
            &value,
            2);
      }
    }
  }
  one.fill(0, [](int lane) { return (lane / 16 * 4 + lane % 16 / 4) * kRowBytes + lane % 4 * 8; });
  one.run("ds_read_b64_tr_b16 v[2:3], v0");
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int row = 0; row < 4; ++row) {
      const uint32_t half =
          one.v(2 + row / 2)[static_cast<size_t>(lane)] >> (row % 2 * 16) & 0xFFFF;
      BOOST_TEST(half == static_cast<uint32_t>(1000 * (lane / 16) + 100 * row + lane % 16));
    }
  }
}

BOOST_AUTO_TEST_CASE(lanes_fetch_from_and_send_to_lanes_by_byte_address) {
  OneWave one;
  one.fill(0, [](int lane) { return 4 * ((lane + 5) % 64); });
  one.fill(1, [](int lane) { return 100 + lane; });
  one.run(
      "ds_bpermute_b32 v2, v0, v1\n ds_permute_b32 v3, v0, v1\n ds_bpermute_b32 v4, v0, v1 "
      "offset:8");
  BOOST_TEST(one.v(2)[0] == 105u);
  BOOST_TEST(one.v(2)[60] == 101u);
  BOOST_TEST(one.v(3)[5] == 100u);
  BOOST_TEST(one.v(4)[0] == 107u);
  one.set_exec(1);  // lane 5 is inactive: its value cannot be fetched
  one.run("ds_bpermute_b32 v2, v0, v1");
  BOOST_TEST(one.v(2)[0] == 0u);
}

BOOST_AUTO_TEST_CASE(local_memory_starts_as_nan_in_every_float_format) {
  OneWave one;
  one.v(0).fill(0);
  one.run("ds_read_b32 v1, v0");
  BOOST_TEST(one.v(1)[0] == 0xFFFFFFFFu);
}

BOOST_AUTO_TEST_CASE(an_access_past_the_end_is_an_error) {
  OneWave one;
  one.v(0).fill(static_cast<uint32_t>(OneWave::kLocalBytes - 8));
  one.run("ds_read_b64 v[2:3], v0");
  BOOST_CHECK_THROW(one.run("ds_read_b64 v[2:3], v0 offset:4"), mla::Error);
  BOOST_CHECK_THROW(one.run("ds_write_b128 v0, v[4:7]"), mla::Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
