// SPDX-License-Identifier: MIT
// Databases of any size for tests and benches, without tuning anything.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/device_info.h"

namespace mla::db {

// Creates the database at `path` (or adds to it) with `count` finished tunings of distinct problems
// on `device`, each with a winner that is legal in make_space(device). One transaction. The same
// seed gives the same rows.
void write_fake_winners(const std::string& path,
                        const DeviceInfo& device,
                        int64_t count,
                        uint64_t seed);

}  // namespace mla::db
