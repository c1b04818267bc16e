// SPDX-License-Identifier: MIT
// Small kernels that touch each part of the machine: grids, divergence, barriers, copies into LDS,
// matrix products.
#include "tests/amdgcn/device.cuh"

using namespace test_device;

MLA_GLOBAL void add_vectors(const float* a, const float* b, float* sum, int count) {
  const int i = static_cast<int>(workgroup() * __builtin_amdgcn_workgroup_size_x() + item());
  if (i < count) sum[i] = a[i] + b[i];
}

// One sum a workgroup of 256, through local memory.
MLA_GLOBAL MLA_WORKGROUP(256) void sum_rows(const float* rows, float* sums, int row_length) {
  MLA_SHARED float partial[256];
  float sum = 0;
  for (int i = static_cast<int>(item()); i < row_length; i += 256)
    sum += rows[workgroup() * row_length + i];
  partial[item()] = sum;
  for (unsigned half = 128; half > 0; half /= 2) {
    barrier();
    if (item() < half) partial[item()] += partial[item() + half];
  }
  if (item() == 0) sums[workgroup()] = partial[0];
}

// Each wave copies 64 dwords a block into its part of a ring of two slots and sums what its
// neighbour copied. MLA_DROP_*: a mutant that lacks one thing.
MLA_GLOBAL MLA_WORKGROUP(128) void sum_neighbour(const unsigned* values,
                                                 unsigned* sums,
                                                 int blocks) {
  MLA_SHARED unsigned ring[2][128];
  const unsigned wave = __builtin_amdgcn_readfirstlane(item() / 64);
  // The block behind the last is copied as well, so that every trip waits for the same number of
  // copies.
  const auto copy = [&](int block) {
    const unsigned* from = values + block * 128 + item();
    __builtin_amdgcn_global_load_lds(
        (__attribute__((address_space(1))) void*)from,
        (__attribute__((address_space(3))) void*)&ring[block % 2][wave * 64],
        4,
        0,
        0);
  };
  unsigned sum = 0;
  copy(0);
  for (int block = 0; block < blocks; ++block) {
    copy(block + 1);
#ifndef MLA_DROP_WAIT
    asm volatile("s_waitcnt vmcnt(1)" ::: "memory");
#endif
#ifndef MLA_DROP_FIRST_BARRIER
    barrier();
#endif
    sum += ring[block % 2][(item() + 64) % 128];
#ifndef MLA_DROP_LAST_BARRIER
    barrier();
#endif
  }
  sums[workgroup() * 128 + item()] = sum;
}

typedef short Bf16x4 __attribute__((ext_vector_type(4)));
typedef float Floatx4 __attribute__((ext_vector_type(4)));

// d = a b^T for 16 x 16 matrices of bf16, row by row.
MLA_GLOBAL MLA_WORKGROUP(64) void multiply_matrices(const short* a, const short* b, float* d) {
  const unsigned row = item() % 16;
  const unsigned group = item() / 16;
  const Bf16x4 left = *reinterpret_cast<const Bf16x4*>(a + row * 16 + group * 4);
  const Bf16x4 right = *reinterpret_cast<const Bf16x4*>(b + row * 16 + group * 4);
  const Floatx4 product =
      __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, Floatx4{}, 0, 0, 0);
  for (unsigned i = 0; i < 4; ++i) d[(group * 4 + i) * 16 + row] = product[i];
}
