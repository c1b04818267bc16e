// SPDX-License-Identifier: MIT
// That a probe does the work which its rate is formed from. No rate is asserted: a machine may be
// busy.
#define BOOST_TEST_MODULE host_probes
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/host/host_kernels.h"
#include "kernels/host/probe_kernels.h"
#include "kernels/host/probes.h"

using namespace mla;

BOOST_AUTO_TEST_CASE(operations_are_counted_in_proportion_to_the_rounds) {
  BOOST_TEST(host::fma_loop(1) > 0);
  BOOST_TEST(host::fma_loop(1000) == 1000 * host::fma_loop(1));
  BOOST_TEST(host::bf16_dot_loop(1000) == 1000 * host::bf16_dot_loop(1));
}

BOOST_AUTO_TEST_CASE(a_rate_of_dot_products_is_there_exactly_where_the_cpu_has_them) {
  const HostRates rates = probe_host(2);
  BOOST_TEST(rates.read_gb_s > 0);
  BOOST_TEST(rates.fp32_gflop_s > 0);
  BOOST_TEST((rates.bf16_dot_gflop_s > 0) == (host::bf16_kernels() != nullptr));
}

BOOST_AUTO_TEST_CASE(the_read_loop_reads_every_word) {
  for (const int64_t count : {0, 1, 7, 16, 33, 1000}) {
    std::vector<uint64_t> words(count);
    std::iota(words.begin(), words.end(), uint64_t{1});
    BOOST_TEST(host::read_loop(words.data(), count) ==
               static_cast<uint64_t>(count * (count + 1) / 2));
  }
}

BOOST_AUTO_TEST_CASE(the_cache_to_flush_is_between_32_and_128_mib) {
  BOOST_TEST(host_cache_bytes() >= int64_t{32} << 20);
  BOOST_TEST(host_cache_bytes() <= int64_t{128} << 20);
}
