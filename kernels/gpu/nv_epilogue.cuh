// SPDX-License-Identifier: MIT
// What follows the loop of stage 1: the teams of a workgroup merge where they walked blocks in
// turn, then the two splits of a request that is cut in two, and the output or a partial result is
// stored.
//
// Both merges are the same step: each side keeps half of a thread's columns and takes over the
// other side's share of that half. They meet in the copy rings, which are free by then.
#pragma once

#include "kernels/config.h"
#include "kernels/decode_params.h"
#include "kernels/gpu/nv_bh16_tile.cuh"
#include "kernels/stage1.h"

namespace mla::gpu {

// Hardware barriers beside __syncthreads': one a team, then one for two teams or for three.
inline constexpr int kTeamBarrier = 1;
inline constexpr int kMergeBarrier = kTeamBarrier + 2;
inline constexpr int kThreeTeamsBarrier = kTeamBarrier + 3;

// What a team hands over, in float4: half the output tiles of its threads, and their scalars.
constexpr int hand_over_scalars(int tiles) {
  return tiles / 2 * kTeamThreads;
}
constexpr int hand_over_bytes(int tiles) {
  return (hand_over_scalars(tiles) + kTeamThreads) * 16;
}

// What meets in a ring: of a team alone the pair's buffer, of two teams that merge both, of two
// with a ring in common the pair's of each. Of three teams, in all rings.
constexpr int met_bytes(int tiles, int teams, int rings) {
  if (rings == 3) return 4 * hand_over_bytes(tiles);
  return rings == 2 ? hand_over_bytes(tiles) + hand_over_bytes(tiles / 2)
                    : teams * hand_over_bytes(tiles);
}

// Puts the other half of the thread's first kTiles tiles, and its scalars, into `buffer`.
template <int kTiles, class Tile>
__device__ void hand_over(Tile& tile,
                          int half,
                          float4* buffer,
                          const SoftmaxState<typename Tile::Rows>& state) {
  const int thread = threadIdx.x % kTeamThreads;
  tile.template hand_over<kTiles>(half, buffer + thread);
  buffer[hand_over_scalars(kTiles) + thread] =
      make_float4(state.max[0], state.max[1], state.sum[0], state.sum[1]);
}

// Merges what the other side's thread handed over. Both sides end with the same scalars.
// `read(i)`: its float4 at place i of the buffer.
template <int kTiles, class Tile, class Read>
__device__ void take_over(Tile& tile, Read read, SoftmaxState<typename Tile::Rows>* state) {
  using Rows = typename Tile::Rows;
  const int thread = threadIdx.x % kTeamThreads;
  const float4 scalars = read(hand_over_scalars(kTiles) + thread);
  const Rows max = {{scalars.x, scalars.y}}, sum = {{scalars.z, scalars.w}};
  Rows own, others;
  for (int i = 0; i < 2; ++i) {
    const float top = fmaxf(state->max[i], max[i]);
    const float base = top == -INFINITY ? 0.0f : top;
    own[i] = state->max[i] - base;
    others[i] = max[i] - base;
    state->max[i] = top;
  }
  own = Tile::exp2(own);
  others = Tile::exp2(others);
  for (int i = 0; i < 2; ++i) state->sum[i] = own[i] * state->sum[i] + others[i] * sum[i];
  tile.template take_over<kTiles>([&](int i) { return read(i + thread); }, own, others);
}

template <class Tile>
__device__ void merge_teams(Tile& tile,
                            uint8_t* local,
                            int ring_bytes,
                            int team,
                            SoftmaxState<typename Tile::Rows>* state) {
  hand_over<Tile::kOutputTiles>(
      tile, team, reinterpret_cast<float4*>(local + team * ring_bytes), *state);
  named_barrier(kMergeBarrier, 2 * kTeamThreads);
  const auto* theirs = reinterpret_cast<const float4*>(local + (1 - team) * ring_bytes);
  take_over<Tile::kOutputTiles>(
      tile, [=](int i) { return theirs[i]; }, state);
}

// Of three teams the third one hands over both halves, and then has no part in the result. What it
// gives to a team is at places 2 and 3: there only that team's own threads read.
template <class Tile>
__device__ void merge_three_teams(Tile& tile,
                                  float4* places,
                                  int team,
                                  SoftmaxState<typename Tile::Rows>* state) {
  constexpr int kPlace = hand_over_bytes(Tile::kOutputTiles) / 16;
  constexpr int kThreads = 3 * kTeamThreads;
  named_barrier(kThreeTeamsBarrier, kThreads);  // all rings are free
  if (team < 2) {
    hand_over<Tile::kOutputTiles>(tile, team, places + team * kPlace, *state);
  } else {
    // The half that is kept moves to the front, and is what the second call hands over.
    hand_over<Tile::kOutputTiles>(tile, 1, places + 2 * kPlace, *state);
    hand_over<Tile::kOutputTiles>(tile, 1, places + 3 * kPlace, *state);
  }
  named_barrier(kThreeTeamsBarrier, kThreads);
  if (team == 2) return;
  for (const int place : {1 - team, 2 + team}) {
    const float4* theirs = places + place * kPlace;
    take_over<Tile::kOutputTiles>(
        tile, [=](int i) { return theirs[i]; }, state);
  }
}

// With the other workgroup of the pair (a cluster), of which this is number `half`. The caller
// waits for the pair once more before it ends: until then the other one reads the buffer.
template <int kTiles, class Tile>
__device__ void merge_pair(Tile& tile,
                           float4* mine,
                           int half,
                           SoftmaxState<typename Tile::Rows>* state) {
  hand_over<kTiles>(tile, half, mine, *state);
  arrive_cluster();
  wait_cluster();
  const uint32_t theirs = cluster_address(shared_address(mine), 1 - half);
  take_over<kTiles>(
      tile, [=](int i) { return load_cluster(theirs + i * 16); }, state);
  arrive_cluster();
}

// A team's columns of the output or of a partial result, from `column` on. `lse_writer`: of several
// teams with the same rows, the one that stores the LSE.
template <int kTiles, class Tile, class Work>
__device__ void store_work(const Tile& tile,
                           const DecodeParams& p,
                           const KernelConfig& config,
                           const Work& work,
                           bool final,
                           int column,
                           bool lse_writer,
                           const SoftmaxState<typename Tile::Rows>& state) {
  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const bool present = Tile::row_index(i) < work.group.rows;
    const int64_t row = work.group.output_row(p, Tile::row_index(i));
    const bool empty = state.sum[i] == 0.0f;
    const float scale = empty ? 0.0f : p.kv_scale / state.sum[i];
    const float lse =
        empty ? -INFINITY : (state.max[i] + log2_approx(state.sum[i])) * static_cast<float>(kLn2);
    float* lse_target = nullptr;
    if (final) {
      tile.template store<kTiles>(i, scale, column, present ? p.out + row * kValueDim : nullptr);
      if (p.lse != nullptr) lse_target = p.lse + row;
    } else {
      // Of a split that saw no row only the LSE is read.
      float* output = present && !empty ? partials.output(row, work.split) : nullptr;
      tile.template store<kTiles>(i, scale, column, output);
      lse_target = partials.lse(row, work.split);
    }
    const bool writer = lse_writer && present && Tile::warp() == 0 && Tile::lane() % 4 == 0;
    if (writer && lse_target != nullptr) *lse_target = lse;
  }
}

// By all consumers of a workgroup, each team with the rows of `work`.
template <int kTeams, int kRings, class Tile, class Work>
__device__ void finish_work(Tile& tile,
                            const DecodeParams& p,
                            const KernelConfig& config,
                            const Work& work,
                            uint8_t* local,
                            int ring_bytes,
                            int team,
                            SoftmaxState<typename Tile::Rows>* state) {
  constexpr int kGroupRows = kTeams / kRings * kTeamRows;
  constexpr Bh16Layout kShallowest = {Tile::kBlockRows, kTeams, 2, Tile::kKvDtype, kGroupRows};
  static_assert((kRings == 3 ? kShallowest.bytes() : kShallowest.ring_bytes()) >=
                met_bytes(Tile::kOutputTiles, kTeams, kRings));
  constexpr int kTiles = Tile::kOutputTiles / (kRings == 1 ? 1 : 2);
  constexpr int kRingThreads = kTeams / kRings * kTeamThreads;
  const bool pair = cluster_size() == 2 && !work.unsplit;
  int column = Tile::first_column();
  bool lse_writer = true;
  // Of merge_pair. Not that of merge_teams, which the other team may still be reading.
  uint8_t* buffer = local + team * hand_over_bytes(Tile::kOutputTiles);
  if (kRings == 2 || (kRings == 1 && pair)) {  // the ring is free
    named_barrier(kRings == 2 ? kTeamBarrier + team : kMergeBarrier, kRingThreads);
  }
  if constexpr (kRings == 2) {
    merge_teams(tile, local, ring_bytes, team, state);
    column += team * 8 * kTiles;
    lse_writer = team == 0;
    buffer = local + team * ring_bytes + hand_over_bytes(Tile::kOutputTiles);
  }
  if constexpr (kRings == 3) {
    merge_three_teams(tile, reinterpret_cast<float4*>(local), team, state);
    if (team == 2) return;
    column += team * 8 * kTiles;
    lse_writer = team == 0;
    buffer = local + (2 + team) * hand_over_bytes(Tile::kOutputTiles);
  }
  if (!pair) {
    store_work<kTiles>(tile, p, config, work, work.unsplit, column, lse_writer, *state);
    return;
  }
  const int half = cluster_rank();
  merge_pair<kTiles>(tile, reinterpret_cast<float4*>(buffer), half, state);
  lse_writer = lse_writer && half == 0;
  store_work<kTiles / 2>(
      tile, p, config, work, true, column + half * 4 * kTiles, lse_writer, *state);
  wait_cluster();
}

}  // namespace mla::gpu
