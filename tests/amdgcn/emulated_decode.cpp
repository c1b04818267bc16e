// SPDX-License-Identifier: MIT
#include "tests/amdgcn/emulated_decode.h"

#include <algorithm>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"

namespace mla::test {
namespace {

using amdgcn::Permission;

// A buffer whose bytes are all ones at first: NaN in bf16 and in float32. The canary behind it is
// out of the kernel's reach; that it is intact says that the emulator bounds accesses.
template <class T>
std::vector<T> poisoned(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  std::memset(values.data(), 0xFF, values.size() * sizeof(T));
  return values;
}

template <class T>
void add_input(amdgcn::MemoryMap* memory, const T* data, int64_t count, const char* name) {
  memory->add(data, static_cast<size_t>(count) * sizeof(T), name, Permission::kReadOnly);
}

// The inputs; of the page numbers those in use alone.
void add_inputs(amdgcn::MemoryMap* memory, const Workload& workload, const DecodeParams& p) {
  add_input(memory, p.q, static_cast<int64_t>(workload.q().size()), "q");
  add_input(memory,
            static_cast<const uint16_t*>(p.kv),
            workload.pool_pages() * p.page_size * kHeadDim,
            "kv");
  add_input(memory, p.kv_indptr, p.batch + 1, "kv_indptr");
  add_input(memory, p.kv_indices, std::max(p.kv_indptr[p.batch], 1), "kv_indices");
  add_input(memory, p.last_page_len, p.batch, "last_page_len");
}

}  // namespace

EmulatedGpu::EmulatedGpu(std::string arch, std::string folder)
    : arch_(std::move(arch)), folder_(std::move(folder)) {}

Output EmulatedGpu::decode(const Workload& workload,
                           const KernelConfig& config,
                           amdgcn::Mode mode,
                           bool with_lse) {
  return decode(workload, workload.params(), config, mode, with_lse);
}

Output EmulatedGpu::decode(const Workload& workload,
                           DecodeParams params,
                           const KernelConfig& config,
                           amdgcn::Mode mode,
                           bool with_lse) {
  const int64_t rows = int64_t{params.batch} * params.q_len * params.nhead;
  Output output{poisoned<uint16_t>(rows * kValueDim), poisoned<float>(rows)};
  auto workspace =
      poisoned<float>(workspace_bytes(params.batch, params.q_len, params.nhead, config.splits) / 4);
  params.out = output.out.data();
  params.lse = with_lse ? output.lse.data() : nullptr;
  params.workspace = workspace.empty() ? nullptr : workspace.data();
  amdgcn::MemoryMap memory;
  add_inputs(&memory, workload, params);
  add(&memory, output.out, "out");
  if (with_lse) add(&memory, output.lse, "lse");
  if (!workspace.empty()) add(&memory, workspace, "workspace");

  const AmdStage1 key = amd_stage1(params, config, true);
  run(stage1(key),
      symbol_name(key),
      amd_stage1_launch(params, config),
      params,
      config,
      memory,
      mode);
  const AmdLaunch merge = amd_stage2_launch(params, config);
  if (merge.workgroups > 0) {
    run(load("stage2"),
        stage2_symbol_name(config.stage2_tiles),
        merge,
        params,
        config,
        memory,
        mode);
  }
  return output;
}

void EmulatedGpu::copy_only(const Workload& workload,
                            const KernelConfig& config,
                            amdgcn::Mode mode) {
  const DecodeParams params = workload.params();
  amdgcn::MemoryMap memory;  // nothing that can be written
  add_inputs(&memory, workload, params);
  const AmdStage1 key = amd_stage1(params, config, false);
  run(stage1(key),
      symbol_name(key),
      amd_stage1_launch(params, config),
      params,
      config,
      memory,
      mode);
}

const amdgcn::Kernel& EmulatedGpu::kernel(const AmdStage1& key) {
  return stage1(key).kernel(symbol_name(key));
}

const amdgcn::CodeObject& EmulatedGpu::stage1(const AmdStage1& key) {
  AmdStage1 decode = key;
  decode.products = true;
  const std::string symbol = symbol_name(decode);
  return load(symbol.substr(0, symbol.rfind('_')));
}

const amdgcn::CodeObject& EmulatedGpu::load(const std::string& name) {
  const auto found = code_objects_.find(name);
  if (found != code_objects_.end()) return found->second;
  const std::string path = folder_ + "/" + name + "." + arch_ + ".co";
  return code_objects_[name] = amdgcn::read_code_object(path, {MLA_LLVM_OBJDUMP, MLA_LLVM_READOBJ});
}

void EmulatedGpu::run(const amdgcn::CodeObject& code,
                      const std::string& kernel,
                      const AmdLaunch& plan,
                      const DecodeParams& params,
                      const KernelConfig& config,
                      const amdgcn::MemoryMap& memory,
                      amdgcn::Mode mode) {
  const amdgcn::Arguments arguments(params, config);
  amdgcn::Machine machine(code, memory);
  amdgcn::Launch launch;
  launch.kernel = kernel;
  launch.grid.x = static_cast<uint32_t>(plan.workgroups);
  launch.block.x = static_cast<uint32_t>(plan.waves * kWaveLanes);
  launch.dynamic_lds_bytes = static_cast<size_t>(plan.lds_bytes);
  launch.arguments = arguments.data();
  launch.arguments_bytes = arguments.size();
  machine.run(launch, mode);
  instructions_ += machine.instructions();
}

EmulatedGpu& emulated_gpu(const std::string& arch) {
  static std::map<std::string, EmulatedGpu> gpus;
  return gpus.try_emplace(arch, arch).first->second;
}

DeviceInfo device_of(const std::string& arch) {
  const KnownDevice* device = find_known_arch(arch);
  if (device == nullptr) throw Error(ErrorCode::kInternal, "no known device of " + arch);
  return device_info_of(*device);
}

std::vector<KernelConfig> stage1_shapes(const std::string& arch) {
  const Space space = make_space(device_of(arch));
  std::vector<KernelConfig> shapes;
  for (const int32_t tile_n : space.range(Knob::kTileN).legal) {
    for (const int32_t stages : space.range(Knob::kStages).legal) {
      for (const int32_t wait : space.range(Knob::kWait).legal) {
        KernelConfig config = space.neutral();
        config.tile_n = tile_n;
        config.stages = stages;
        config.wait = static_cast<Wait>(wait);
        if (!space.violation(Problem{}, config)) shapes.push_back(config);
      }
    }
  }
  return shapes;
}

}  // namespace mla::test
