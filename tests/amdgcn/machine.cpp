// SPDX-License-Identifier: MIT
#include "tests/amdgcn/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "tests/amdgcn/launch.h"

namespace mla::amdgcn {
namespace {

// Far above what one wave of a test needs: a loop that does not end.
constexpr uint64_t kMaxInstructionsOfAWave = 200'000'000;

// HIP places workgroups on the chiplets in turn.
constexpr uint32_t kXccCount = 8;

}  // namespace

void run_wave(const std::vector<Op>& ops, Wave* wave) {
  while (wave->state == Wave::State::kRunning) {
    if (wave->next >= ops.size())
      throw Error(ErrorCode::kDevice, "execution past the end of the kernel");
    const Op& op = ops[wave->next++];
    wave->check_registers(op);
    op.execute(*wave, op);
    if (++wave->instructions > kMaxInstructionsOfAWave)
      throw Error(ErrorCode::kDevice, "no end in sight");
  }
}

Machine::Machine(const CodeObject& code_object, const MemoryMap& memory)
    : code_object_(code_object), memory_(memory) {}

const Machine::Program& Machine::program(std::string_view name) {
  const auto found = programs_.find(name);
  if (found != programs_.end()) return found->second;
  const Kernel& kernel = code_object_.kernel(name);
  try {
    return programs_.emplace(std::string(name), Program{&kernel, decode(kernel.instructions)})
        .first->second;
  } catch (const Error& error) {
    throw Fault(fmt::format("{}: {}", name, error.what()));
  }
}

void Machine::run(const Launch& launch, Mode mode) {
  const Program& program = this->program(launch.kernel);
  check_launch(code_object_, *program.kernel, launch);
  const std::vector<std::byte> arguments = kernel_arguments(*program.kernel, launch);
  MemoryMap memory = memory_;
  memory.add(arguments.data(), arguments.size(), "the kernel arguments", Permission::kReadOnly);
  const auto kernarg = reinterpret_cast<uint64_t>(arguments.data());
  Workgroup workgroup{LocalMemory(lds_bytes(*program.kernel, launch)), {}};
  const uint32_t waves = (launch.block.count() + kLanes - 1) / kLanes;
  for (uint32_t i = 0; i < waves; ++i)
    workgroup.waves.emplace_back(&workgroup.local, &memory, mode.completion);
  uint32_t number = 0;
  for (uint32_t z = 0; z < launch.grid.z; ++z) {
    for (uint32_t y = 0; y < launch.grid.y; ++y) {
      for (uint32_t x = 0; x < launch.grid.x; ++x, ++number) {
        workgroup.local.clear();
        for (uint32_t i = 0; i < waves; ++i) {
          workgroup.waves[i].restart();
          workgroup.waves[i].xcc_id = number % kXccCount;
          set_start_registers(*program.kernel, launch, {x, y, z}, i, kernarg, &workgroup.waves[i]);
        }
        run_workgroup(program, launch, mode.order, {x, y, z}, &workgroup);
        for (const Wave& wave : workgroup.waves) instructions_ += wave.instructions;
      }
    }
  }
}

void Machine::run_workgroup(const Program& program,
                            const Launch& launch,
                            WaveOrder order,
                            Dim3 place,
                            Workgroup* workgroup) {
  std::deque<Wave>& waves = workgroup->waves;
  const auto is_running = [](const Wave& wave) { return wave.state == Wave::State::kRunning; };
  while (std::any_of(waves.begin(), waves.end(), is_running)) {
    for (size_t turn = 0; turn < waves.size(); ++turn) {
      const size_t i = order == WaveOrder::kFirstAhead ? turn : waves.size() - 1 - turn;
      try {
        run_wave(program.ops, &waves[i]);
      } catch (const Error& error) {
        const Instruction& at =
            *program.ops[std::min(waves[i].next, program.ops.size()) - 1].instruction;
        throw Fault(fmt::format("{}: workgroup {},{},{} wave {}: {:#x}: {}: {}",
                                launch.kernel,
                                place.x,
                                place.y,
                                place.z,
                                i,
                                at.address,
                                at.text,
                                error.what()));
      }
    }
    for (Wave& wave : waves) {
      if (wave.state == Wave::State::kAtBarrier) wave.state = Wave::State::kRunning;
    }
  }
}

}  // namespace mla::amdgcn
