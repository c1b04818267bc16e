// SPDX-License-Identifier: MIT
// The header in C++, and the version of the library that is really loaded against the one compiled
// for.
#include <mla_policy.h>

#include <cstdio>

int main() {
  const uint32_t compiled =
      MLA_POLICY_VERSION_MAJOR * 10000 + MLA_POLICY_VERSION_MINOR * 100 + MLA_POLICY_VERSION_PATCH;
  std::printf("compiled for %u, loaded %u\n", compiled, mla_policy_version());
  mla_policy_close(nullptr);
  return mla_policy_version() == compiled ? 0 : 1;
}
