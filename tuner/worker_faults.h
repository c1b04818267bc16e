// SPDX-License-Identifier: MIT
// A test device: another device with faults, to see what the tuner makes of them. Spec:
//
//   faulty:RULE[,RULE...]:DEVICE       RULE = ACTION[.run|.time][@KNOBS][#N]
//   faulty:crash@splits=4,hang.time@tile_n=16#2:cpu
//
//   crash  the process ends by SIGSEGV          hang   the launch never returns
//   wrong  one output row is off by 10 %        nan    one output element is NaN
//   slow   takes 10 times as long
//   fixed  reads a time that follows from the configuration alone; computes as ever
//   illegal, spin   a kernel on the device does it ahead of the launch: reads an address that is
//          not mapped, or spins for longer than anybody waits. Only where the opener brings them.
//
// A rule acts on the launches of run() (admission), of time_cold() (samples) or of both, of every
// configuration or of those with these knob values, and with #N only on the N-th of these launches
// of the process, counted from 1.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/device.h"

namespace mla::tuner {

bool is_faulty_spec(const std::string& spec);

// Queue a kernel on the device; empty where there is none.
struct FaultKernels {
  std::function<void(Device&)> illegal;
  std::function<void(Device&)> spin;
};

// Throws Error(kUsage) naming the part of `rules` that cannot be read.
std::unique_ptr<Device> add_faults(std::unique_ptr<Device> device,
                                   const std::string& rules,
                                   const FaultKernels& kernels = {});

// Opens the device of a plain or a faulty spec through `open`.
std::unique_ptr<Device> open_worker_device(
    const std::string& spec,
    const std::function<std::unique_ptr<Device>(const std::string&)>& open = open_device,
    const FaultKernels& kernels = {});

}  // namespace mla::tuner
