// SPDX-License-Identifier: MIT
// Captured graphs: replayed while requests grow and join, on two streams at once, and over pools
// whose row offsets leave 32 bits. And that a test would notice what a kernel does not write.
#include "tests/device/captured_decode.cuh"

using namespace mla;
using namespace mla::test;

namespace {

Problem five_requests(int64_t seq_len) {
  Problem problem;
  problem.batch = 5;
  problem.seq_len = seq_len;
  return problem;
}

// The table of `full` cut to `lengths`; what lies behind the rows in use is garbage.
struct Tables {
  std::vector<int32_t> indptr = {0};
  std::vector<int32_t> indices;
  std::vector<int32_t> last_page_len;
};

Tables cut_lengths(const Workload& full, const std::vector<int64_t>& lengths) {
  Tables tables;
  for (size_t b = 0; b < lengths.size(); ++b) {
    const auto begin = full.kv_indices().begin() + full.kv_indptr()[b];
    tables.indices.insert(tables.indices.end(), begin, begin + lengths[b]);
    tables.indptr.push_back(static_cast<int32_t>(tables.indices.size()));
  }
  tables.indices.resize(full.kv_indices().size(), -1);
  tables.last_page_len.assign(lengths.size(), 1);
  return tables;
}

template <class T>
void overwrite(T* target, const std::vector<T>& values) {
  hip::check(hipMemcpy(target, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
             "tables");
  hip::check(hipStreamSynchronize(nullptr), "tables");
}

Outcome compare(const DecodeParams& host, const Output& output, int64_t sampled_rows) {
  return check_against_reference(reference_sample(host, sampled_rows, 1),
                                 host.nhead,
                                 output.out.data(),
                                 output.lse.data(),
                                 tolerance(KvDtype::kBf16));
}

void check_growth(const KernelConfig& config) {
  WorkloadOptions options;
  options.spikes = false;
  const Workload full(five_requests(5000), options);
  CapturedDecode decode(full, config);
  std::vector<int64_t> lengths = {0, 1, 15, 400, 0};  // the last is padding
  const std::vector<int64_t> steps = {1, 7, 31, 113, 0};
  for (int step = 0; step < 40; ++step) {
    const Tables tables = cut_lengths(full, lengths);
    overwrite(decode.indptr(), tables.indptr);
    overwrite(decode.indices(), tables.indices);
    decode.poison();
    decode.replay();
    DecodeParams host = full.params();
    host.kv_indptr = tables.indptr.data();
    host.kv_indices = tables.indices.data();
    host.last_page_len = tables.last_page_len.data();
    const Outcome outcome = compare(host, decode.read(), 12);
    BOOST_REQUIRE_MESSAGE(outcome.ok(), "step " << step << ": " << outcome.text);
    for (size_t b = 0; b < lengths.size(); ++b) lengths[b] += steps[b];
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replay)

BOOST_AUTO_TEST_CASE(one_captured_graph_serves_requests_that_grow_by_different_steps) {
  check_growth(config_of(33, 16, 4, 8));
}

// The shares are those of the lengths at the replay.
BOOST_AUTO_TEST_CASE(one_captured_graph_of_the_persistent_schedule_serves_growing_requests,
                     *boost::unit_test::precondition(has_persistent_schedule)) {
  check_growth(persistent(40, 16, 4));
  check_growth(persistent(2, 32, 2));
}

BOOST_AUTO_TEST_CASE(graphs_replayed_on_two_streams_at_once_give_the_bits_they_give_alone) {
  WorkloadOptions options;
  const Workload left_workload(five_requests(3000), options);
  options.seed = 2;
  const Workload right_workload(five_requests(2000), options);
  CapturedDecode left(left_workload, config_of(13, 16, 4, 4));
  CapturedDecode right(right_workload, config_of(13, 16, 3, 8));
  const auto alone = [](CapturedDecode* decode) {
    decode->poison();
    decode->replay();
    return decode->read();
  };
  const Output left_alone = alone(&left);
  const Output right_alone = alone(&right);
  BOOST_REQUIRE(compare(left_workload.params(), left_alone, 16).ok());
  BOOST_REQUIRE(compare(right_workload.params(), right_alone, 16).ok());
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (CapturedDecode* decode : {&left, &right}) decode->poison();
    for (CapturedDecode* decode : {&left, &right, &left, &right}) decode->replay();
    BOOST_REQUIRE(left.read() == left_alone);
    BOOST_REQUIRE(right.read() == right_alone);
  }
}

// 2^31 elements are 2^32 bytes; 2^32 elements leave unsigned 32-bit element offsets too.
BOOST_AUTO_TEST_CASE(
    rows_around_2_to_the_31_and_2_to_the_32_elements_are_found_at_every_page_size) {
  for (const int32_t page_size : {1, 16, 64}) {
    Problem problem = five_requests(700);
    problem.page_size = page_size;
    const Workload workload(problem, {});
    for (const int64_t edge : {int64_t{1} << 31, int64_t{1} << 32}) {
      const int64_t edge_page = edge / (int64_t{page_size} * kHeadDim);
      CapturedDecode decode(
          workload, config_of(9, 16, 4, 8), edge_page - workload.pool_pages() / 2);
      decode.poison();
      decode.replay();
      const Outcome outcome = compare(workload.params(), decode.read(), 60);
      BOOST_CHECK_MESSAGE(outcome.ok(), "page size " << page_size << ": " << outcome.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_output_that_no_kernel_wrote_is_not_finite) {
  const Workload workload(five_requests(100), {});
  CapturedDecode decode(workload, config_of(2, 16, 4, 4));
  decode.poison();
  BOOST_CHECK(compare(workload.params(), decode.read(), 60).kind == OutcomeKind::kNonFinite);
}

BOOST_AUTO_TEST_CASE(a_byte_written_behind_a_buffer_damages_its_canary) {
  hip::Stream stream;
  hip::DeviceMemory memory;
  constexpr size_t kBytes = 1000;
  memory.require(kBytes, "memory");
  const auto intact_after_write_at = [&](size_t offset) {
    memory.poison(kBytes, stream.get());
    hip::check(hipMemsetAsync(memory.as<uint8_t>() + offset, 0, 1, stream.get()), "write");
    stream.wait();
    return memory.intact();
  };
  BOOST_CHECK(intact_after_write_at(kBytes - 1));
  BOOST_CHECK(!intact_after_write_at(kBytes));
  BOOST_CHECK(!intact_after_write_at(kBytes + hip::DeviceMemory::kCanaryBytes - 1));
}

BOOST_AUTO_TEST_SUITE_END()
