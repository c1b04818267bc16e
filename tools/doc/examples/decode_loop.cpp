// SPDX-License-Identifier: MIT
// What a serving engine does with the two libraries: plan once a step, launch once a layer, report
// the step's time, and list at the end what is worth tuning.
//
//   decode_loop [DEVICE]      "cpu" unless given; databases from MLA_TUNE_DB
//
// Every cached row of a request holds one value, so that attention over them has to give it back.
#include <mla_decode.h>
#include <mla_policy.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kBatch = 4, kNhead = 12, kLayers = 3, kSteps = 20, kFirstLength = 300;
constexpr int kRowWidth = 576, kValueWidth = 512, kMostRows = kFirstLength + kSteps;
constexpr uint16_t kValues[kBatch] = {0x3F80, 0x4000, 0xC040, 0x3E80};  // bf16: 1, 2, -3, 0.25

void require(mla_status status, const char* what, const std::string& why = "") {
  if (status == MLA_OK) return;
  std::fprintf(stderr, "%s: status %d %s\n", what, static_cast<int>(status), why.c_str());
  std::exit(1);
}

// The paged cache of one batch, pages of one row. Host memory: on a GPU these are device buffers.
struct Cache {
  std::vector<uint16_t> rows = std::vector<uint16_t>(size_t{kBatch} * kMostRows * kRowWidth);
  std::vector<int32_t> indptr = std::vector<int32_t>(kBatch + 1);
  std::vector<int32_t> indices;
  std::vector<int32_t> last_page_len = std::vector<int32_t>(kBatch, 1);

  Cache() {
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = kValues[i / (kMostRows * kRowWidth)];
  }
  // Every request has `length` rows.
  void grow_to(int length) {
    indices.clear();
    for (int32_t b = 0; b < kBatch; ++b) {
      for (int32_t n = 0; n < length; ++n) indices.push_back(b * kMostRows + n);
      indptr[static_cast<size_t>(b) + 1] = static_cast<int32_t>(indices.size());
    }
  }
};

struct Engine {
  explicit Engine(const char* spec) {
    char why[256];
    require(mla_decode_open(spec, &decode, why, sizeof why), "open", why);
    mla_device_desc device{};
    device.struct_size = sizeof device;
    require(mla_decode_describe(decode, &device), "describe");
    mla_policy_open(nullptr, 0, &device, &policy);  // without a database: the default policy
    const mla_shape largest = shape(kMostRows);
    int64_t bytes = 0;
    require(mla_policy_workspace_bound(policy, &largest, &bytes), "workspace bound");
    workspace.resize(static_cast<size_t>(bytes) + 64);
    fill_tensors(bytes);
  }
  ~Engine() {
    mla_policy_close(policy);
    mla_decode_close(decode);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  static mla_shape shape(int64_t seq_len) {
    mla_shape shape{};
    shape.struct_size = sizeof shape;
    shape.batch = kBatch;
    shape.seq_len = seq_len;
    shape.share_group = 8;
    shape.nhead = kNhead;
    shape.q_len = 1;
    shape.page_size = 1;
    shape.imbalance = 1;
    return shape;
  }

  void fill_tensors(int64_t bytes) {
    tensors.struct_size = sizeof tensors;
    tensors.batch = kBatch;
    tensors.nhead = kNhead;
    tensors.q_len = 1;
    tensors.page_size = 1;
    tensors.softmax_scale = 0.0625f;
    tensors.kv_scale = 1;
    tensors.max_seq_len = kMostRows;
    tensors.q = q.data();
    tensors.q_token_stride = kNhead * kRowWidth;
    tensors.q_head_stride = kRowWidth;
    tensors.kv = cache.rows.data();
    tensors.kv_row_stride = kRowWidth;
    tensors.kv_rows = kBatch * kMostRows;
    tensors.last_page_len = cache.last_page_len.data();
    tensors.out = out.data();
    tensors.workspace =
        workspace.data() + (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64);
    tensors.workspace_bytes = bytes;
  }

  void step(int length) {
    const auto begin = std::chrono::steady_clock::now();
    const mla_shape shape = Engine::shape(length);
    mla_plan plan{};
    plan.struct_size = sizeof plan;
    require(mla_policy_plan(policy, &shape, &plan), "plan");
    cache.grow_to(length);
    tensors.kv_indptr = cache.indptr.data();
    tensors.kv_indices = cache.indices.data();
    for (int layer = 0; layer < kLayers; ++layer) {  // one cache stands for those of all layers
      const mla_status launched = mla_decode_launch(decode, &tensors, &plan, nullptr);
      char why[256];
      mla_decode_message(decode, why, sizeof why);
      require(launched, "launch", why);
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    require(mla_policy_report(policy, &shape, time.count()), "report");
  }

  int wrong_elements() const {
    int wrong = 0;
    for (size_t i = 0; i < out.size(); ++i) wrong += out[i] != kValues[i / (kNhead * kValueWidth)];
    return wrong;
  }

  mla_decode* decode = nullptr;
  mla_policy* policy = nullptr;
  Cache cache;
  std::vector<uint16_t> q = std::vector<uint16_t>(size_t{kBatch} * kNhead * kRowWidth, 0x3F00);
  std::vector<uint16_t> out = std::vector<uint16_t>(size_t{kBatch} * kNhead * kValueWidth);
  std::vector<uint8_t> workspace;
  mla_tensors tensors{};
};

}  // namespace

int main(int argc, char** argv) {
  Engine engine(argc > 1 ? argv[1] : "cpu");
  for (int step = 1; step <= kSteps; ++step) engine.step(kFirstLength + step);
  std::string misses(mla_policy_misses(engine.policy, nullptr, 0), '\0');
  mla_policy_misses(engine.policy, misses.data(), misses.size());
  std::printf("%d steps, %d elements wrong\n%s", kSteps, engine.wrong_elements(), misses.c_str());
  return engine.wrong_elements() == 0 ? 0 : 1;
}
