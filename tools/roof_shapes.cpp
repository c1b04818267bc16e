// SPDX-License-Identifier: MIT
// The shapes of `bench --preset roof` with their goals, as data.
#include <algorithm>

#include "tools/roof.h"

namespace mla::tools {
namespace {

struct CopyOnlyGoal {
  int32_t batch;
  double x_copy_only;
};
// nhead 12, 68,000 tokens, page size 1, nothing shared.
constexpr CopyOnlyGoal kScattered[] = {
    {1, 1.20}, {2, 1.15}, {4, 1.10}, {8, 1.06}, {16, 1.05}, {24, 1.04}, {48, 1.04}};

// The same with the first 63,240 tokens shared by groups of eight.
constexpr int32_t kSharedBatches[] = {8, 24, 48};
constexpr double kSharedGoal = 1.20;  // x floor

// Several query positions of batch 8, as a multiple of what one takes, which is kOnePosition x the
// floor on an H200.
struct PositionsGoal {
  int32_t q_len;
  double x_one;
};
constexpr PositionsGoal kPositions[] = {{2, 1.08}, {4, 1.15}};
constexpr int32_t kPositionsBatch = 8;
constexpr double kOnePosition = 1.125;

// Page size 64: the fastest public kernel on an H200 whose read ceiling was kPeerReadGbS
// (FlashMLA, FlashInfer, FlashAttention-3 and FlashMLA-ETAP, 2026), and less where the project asks
// for less (at 64 heads 1.04 of the floor, at 128 680 and 705 TFLOP/s). As a multiple of the floor
// it holds on other cards; of 128 heads, which products bound, on cards of this kind.
constexpr double kPeerReadGbS = 4450;
struct PeerGoal {
  int32_t nhead;
  int64_t seq_len;
  int32_t batch;
  double public_us;
  double asked_us;  // 0: as the public one
};
constexpr PeerGoal kPaged[] = {
    {16, 1024, 1, 13.54, 0},      {16, 1024, 8, 16.22, 0},     {16, 1024, 32, 22.78, 0},
    {16, 1024, 64, 30.62, 0},     {16, 1024, 128, 45.5, 0},    {16, 8192, 1, 20.96, 17},
    {16, 8192, 8, 32.13, 0},      {16, 8192, 32, 81.76, 0},    {16, 8192, 64, 150.5, 0},
    {16, 8192, 128, 286.7, 0},    {16, 32768, 1, 29.82, 24},   {16, 32768, 8, 81.41, 0},
    {16, 32768, 32, 287.5, 0},    {16, 32768, 64, 560.7, 0},   {16, 32768, 128, 1104.2, 0},
    {64, 1024, 16, 23.3, 0},      {64, 8192, 16, 51.4, 0},     {64, 8192, 64, 157.6, 0},
    {64, 32768, 16, 155.8, 0},    {64, 32768, 64, 571, 564.7}, {128, 1024, 16, 25.4, 0},
    {128, 8192, 16, 71.3, 0},     {128, 8192, 64, 220, 214.7}, {128, 32768, 16, 224, 0},
    {128, 32768, 64, 844, 828.6},
};  // 705 TFLOP/s; public: 844

// fp8 rows, nhead 16, page size 1: x the floor of 576 bytes a row.
struct Fp8Shape {
  int64_t seq_len;
  int32_t batch;
};
constexpr Fp8Shape kFp8Shapes[] = {{8192, 16}, {8192, 64}, {32768, 16}, {32768, 64}};
constexpr double kFp8Goal = 1.25;

Problem scattered_problem(int32_t batch) {
  Problem problem;
  problem.batch = batch;
  problem.nhead = 12;
  problem.seq_len = 68000;
  return problem;
}

double read_us(double bytes, double gb_s) {
  return bytes / gb_s * 1e-3;  // bytes a microsecond are 10^-3 GB/s
}

}  // namespace

std::vector<RoofShape> roof_shapes() {
  std::vector<RoofShape> shapes;
  for (const CopyOnlyGoal& goal : kScattered) {
    shapes.push_back({scattered_problem(goal.batch), RoofBase::kCopyOnly, goal.x_copy_only});
  }
  for (const int32_t batch : kSharedBatches) {
    Problem problem = scattered_problem(batch);
    problem.shared_prefix = 63240;
    problem.share_group = 8;
    shapes.push_back({problem, RoofBase::kFloor, kSharedGoal});
  }
  for (const PositionsGoal& goal : kPositions) {
    Problem problem = scattered_problem(kPositionsBatch);
    problem.q_len = goal.q_len;
    shapes.push_back({problem, RoofBase::kFloor, kOnePosition * goal.x_one});
  }
  for (const PeerGoal& goal : kPaged) {
    Problem problem;
    problem.batch = goal.batch;
    problem.nhead = goal.nhead;
    problem.seq_len = goal.seq_len;
    problem.page_size = 64;
    const double floor_us = read_us(min_kv_bytes(problem), kPeerReadGbS);
    shapes.push_back({problem,
                      RoofBase::kFloor,
                      (goal.asked_us > 0 ? goal.asked_us : goal.public_us) / floor_us});
  }
  for (const Fp8Shape& shape : kFp8Shapes) {
    Problem problem;
    problem.batch = shape.batch;
    problem.nhead = 16;
    problem.seq_len = shape.seq_len;
    problem.kv_dtype = KvDtype::kFp8;
    shapes.push_back({problem, RoofBase::kFloor, kFp8Goal});
  }
  return shapes;
}

RoofFloor roof_floor(const Problem& problem, const RoofRates& rates) {
  const double unique_us = read_us(min_kv_bytes(problem), rates.read_gb_s);
  const double logical_bytes = static_cast<double>(problem.batch) *
                               static_cast<double>(problem.seq_len) *
                               static_cast<double>(row_bytes(problem.kv_dtype));
  const double cached_us = rates.l2_read_gb_s > 0 ? read_us(logical_bytes, rates.l2_read_gb_s) : 0;
  return cached_us > unique_us ? RoofFloor{cached_us, "l2"} : RoofFloor{unique_us, "read"};
}

}  // namespace mla::tools
