// SPDX-License-Identifier: MIT
// A graph captured once for a padded batch and replayed while its sequences grow one row a step to
// 100,000 rows. The device prepares each step by itself and logs what came out; the host follows
// with a running float64 softmax of the checked heads and compares every step.
//
// A row among 100,000 equals is within the tolerance, so the newest one is a spike: while it is the
// newest, it weighs as much as all others together on one of the checked heads.
#include <array>
#include <cmath>

#include "kernels/bf16.h"
#include "tests/device/captured_decode.cuh"

using namespace mla;
using namespace mla::test;

namespace {

constexpr int kBatch = 4;
constexpr int64_t kSteps = 100000;
// The second and fourth request are padding; the third joins late.
constexpr std::array<int64_t, kBatch> kFirstStep = {1, kSteps + 1, 60001, kSteps + 1};
constexpr int kHeads = 12;
constexpr std::array<int, 4> kCheckedHeads = {0, 5, 7, 11};
constexpr int kChunkSteps = 500;  // between two visits of the host

constexpr int64_t length(int b, int64_t step) {
  return step < kFirstStep[b] ? 0 : step - kFirstStep[b] + 1;
}

// What one request brings to one step.
struct NewRows {
  uint16_t spike[kHeadDim];     // in the place of the newest row
  uint16_t previous[kHeadDim];  // in the place of the spike before, from now on
};

struct Lengths {
  int32_t rows[kBatch];
};

// Packs the tables of the first `lengths` rows of each request and writes the new rows. `all`: the
// table of the final lengths.
__global__ void grow(Lengths lengths,
                     const int32_t* all_indptr,
                     const int32_t* all_indices,
                     const NewRows* new_rows,
                     uint16_t* pool,
                     int32_t* indptr,
                     int32_t* indices) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int begin = 0;
  for (int b = 0; b < kBatch; ++b) {
    const int32_t* rows = all_indices + all_indptr[b];
    const int count = lengths.rows[b];
    for (int n = thread; n < count; n += gridDim.x * blockDim.x) indices[begin + n] = rows[n];
    if (thread == 0) indptr[b] = begin;
    if (thread < kHeadDim && count > 0) {
      pool[int64_t{rows[count - 1]} * kHeadDim + thread] = new_rows[b].spike[thread];
    }
    if (thread < kHeadDim && count > 1) {
      pool[int64_t{rows[count - 2]} * kHeadDim + thread] = new_rows[b].previous[thread];
    }
    begin += count;
  }
  if (thread == 0) indptr[kBatch] = begin;
}

double dot(const uint16_t* a, const uint16_t* b) {
  double sum = 0;
  for (int i = 0; i < kHeadDim; ++i) sum += double{bf16_to_float(a[i])} * bf16_to_float(b[i]);
  return sum;
}

// The softmax of one head over the rows so far. Scores are below 30: it needs no maximum.
class RunningSoftmax {
 public:
  void add(double weight, const uint16_t* row) {
    total_ += weight;
    for (int i = 0; i < kValueDim; ++i) sum_[i] += weight * bf16_to_float(row[i]);
  }

  // With one row more, which is not kept.
  ReferenceRow with(double weight, const uint16_t* row) const {
    ReferenceRow result{0, 0, std::vector<double>(kValueDim), std::log(total_ + weight)};
    for (int i = 0; i < kValueDim; ++i) {
      result.out[i] = (sum_[i] + weight * bf16_to_float(row[i])) / (total_ + weight);
    }
    return result;
  }

 private:
  std::array<double, kValueDim> sum_{};
  double total_ = 0;
};

// One request on the host: the rows it brings, and what is expected of it.
class Sequence {
 public:
  Sequence(const Workload& workload, int b) : workload_(workload), b_(b) {}

  NewRows rows_of(int64_t step) {
    NewRows rows;
    std::copy(newest_, newest_ + kHeadDim, rows.previous);
    const int64_t n = length(b_, step) - 1;
    fill_base_row(workload_.seed(), workload_.kv_indices()[workload_.kv_indptr()[b_] + n], newest_);
    const uint16_t* q = query(kCheckedHeads[n % kCheckedHeads.size()]);
    // exp(1.5): the mean weight of a row under a query of unit variance, scale 1 / sqrt(192).
    const double score = std::log(static_cast<double>(n + 1)) + 1.5;
    const auto factor = static_cast<float>(score / (scale() * dot(q, q)));
    for (int i = 0; i < kHeadDim; ++i) {
      rows.spike[i] = float_to_bf16(bf16_to_float(newest_[i]) + factor * bf16_to_float(q[i]));
    }
    return rows;
  }

  // Compares one step's output and LSE of the request, [heads][512] and [heads].
  Outcome check(const NewRows& rows, const uint16_t* out, const float* lse) {
    std::vector<ReferenceRow> expected;
    for (size_t i = 0; i < kCheckedHeads.size(); ++i) {
      const uint16_t* q = query(kCheckedHeads[i]);
      if (spiked_) states_[i].add(std::exp(scale() * dot(q, rows.previous)), rows.previous);
      expected.push_back(states_[i].with(std::exp(scale() * dot(q, rows.spike)), rows.spike));
      expected.back().head = kCheckedHeads[i];
    }
    spiked_ = true;
    return check_against_reference(expected, kHeads, out, lse, tolerance(KvDtype::kBf16));
  }

 private:
  double scale() const { return workload_.params().softmax_scale; }
  const uint16_t* query(int head) const {
    const DecodeParams p = workload_.params();
    return p.q + b_ * p.q_token_stride + head * p.q_head_stride;
  }

  const Workload& workload_;
  int b_;
  uint16_t newest_[kHeadDim] = {};  // without its spike
  bool spiked_ = false;             // there was a step before
  std::array<RunningSoftmax, kCheckedHeads.size()> states_;
};

bool is_empty_answer(const uint16_t* out, const float* lse) {
  return std::all_of(out, out + kHeads * kValueDim, [](uint16_t bits) { return bits == 0; }) &&
         std::all_of(lse, lse + kHeads, [](float value) { return value == -INFINITY; });
}

// Runs the steps of a chunk and returns their outputs one after the other.
class LoggedDecode {
 public:
  LoggedDecode(const Workload& all, const KernelConfig& config) : decode_(all, config) {
    all_indptr_.upload(all.kv_indptr(), "table");
    all_indices_.upload(all.kv_indices(), "table");
    log_out_.require(kChunkSteps * decode_.out_bytes(), "log");
    log_lse_.require(kChunkSteps * decode_.lse_bytes(), "log");
    hip::check(hipMemset(decode_.indices(), 0xFF, all.kv_indices().size() * 4), "table");
  }

  Output run(int64_t first_step, const std::vector<NewRows>& rows) {
    new_rows_.upload(rows, "rows");
    const hipStream_t stream = decode_.stream().get();
    for (int i = 0; i < kChunkSteps; ++i) {
      Lengths lengths;
      for (int b = 0; b < kBatch; ++b) {
        lengths.rows[b] = static_cast<int32_t>(length(b, first_step + i));
      }
      grow<<<64, kHeadDim, 0, stream>>>(lengths,
                                        all_indptr_.as<int32_t>(),
                                        all_indices_.as<int32_t>(),
                                        new_rows_.as<NewRows>() + i * kBatch,
                                        decode_.pool(),
                                        decode_.indptr(),
                                        decode_.indices());
      hip::check(hipGetLastError(), "grow");
      decode_.poison();
      decode_.replay();
      log(decode_.params().out, log_out_, decode_.out_bytes(), i);
      log(decode_.params().lse, log_lse_, decode_.lse_bytes(), i);
    }
    decode_.read();  // waits; the canaries of the chunk's last step
    Output output;
    output.out.resize(kChunkSteps * decode_.out_bytes() / sizeof(uint16_t));
    output.lse.resize(kChunkSteps * decode_.lse_bytes() / sizeof(float));
    download(log_out_, output.out.data(), kChunkSteps * decode_.out_bytes());
    download(log_lse_, output.lse.data(), kChunkSteps * decode_.lse_bytes());
    return output;
  }

 private:
  void log(const void* from, const hip::DeviceMemory& to, size_t bytes, int step) {
    hip::check(hipMemcpyAsync(to.as<uint8_t>() + step * bytes,
                              from,
                              bytes,
                              hipMemcpyDeviceToDevice,
                              decode_.stream().get()),
               "log");
  }
  static void download(const hip::DeviceMemory& from, void* to, size_t bytes) {
    hip::check(hipMemcpy(to, from.as<void>(), bytes, hipMemcpyDeviceToHost), "log");
  }

  CapturedDecode decode_;
  hip::DeviceMemory all_indptr_, all_indices_, new_rows_, log_out_, log_lse_;
};

void check_every_step(const KernelConfig& config) {
  Problem problem;
  problem.batch = kBatch;
  problem.nhead = kHeads;
  problem.seq_len = kSteps;
  WorkloadOptions options;
  for (int b = 0; b < kBatch; ++b) options.lengths.push_back(length(b, kSteps));
  options.spikes = false;
  options.with_pool = false;
  const Workload all(problem, options);
  LoggedDecode decode(all, config);
  std::vector<Sequence> sequences;
  for (int b = 0; b < kBatch; ++b) sequences.emplace_back(all, b);

  std::vector<NewRows> rows(size_t{kChunkSteps} * kBatch);
  for (int64_t first = 1; first <= kSteps; first += kChunkSteps) {
    for (int i = 0; i < kChunkSteps * kBatch; ++i) {
      const int64_t step = first + i / kBatch;
      if (length(i % kBatch, step) > 0) rows[i] = sequences[i % kBatch].rows_of(step);
    }
    const Output output = decode.run(first, rows);
    for (int i = 0; i < kChunkSteps * kBatch; ++i) {
      const int64_t step = first + i / kBatch;
      const uint16_t* out = output.out.data() + i * kHeads * kValueDim;
      const float* lse = output.lse.data() + i * kHeads;
      if (length(i % kBatch, step) == 0) {
        if (!is_empty_answer(out, lse)) BOOST_FAIL("step " << step << ": padding is not empty");
        continue;
      }
      const Outcome outcome = sequences[i % kBatch].check(rows[i], out, lse);
      if (!outcome.ok()) {
        BOOST_FAIL("step " << step << ", request " << i % kBatch << ": " << outcome.text);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(growth)

BOOST_AUTO_TEST_CASE(a_graph_captured_once_is_right_at_every_length_from_1_to_100000) {
  check_every_step(config_of(33, 16, 4, 8));
}

BOOST_AUTO_TEST_CASE(a_persistent_schedule_captured_once_is_right_at_every_length_up_to_100000,
                     *boost::unit_test::precondition(has_persistent_schedule)) {
  KernelConfig config = config_of(33, 16, 3, 4);
  config.schedule = Schedule::kPersistent;
  check_every_step(config);
}

BOOST_AUTO_TEST_SUITE_END()
