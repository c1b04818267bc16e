// SPDX-License-Identifier: MIT
// The headers in C++, and the versions of the libraries that are really loaded against those
// compiled for.
#include <mla_decode.h>
#include <mla_policy.h>

#include <cstdio>

int main() {
  const uint32_t policy =
      MLA_POLICY_VERSION_MAJOR * 10000 + MLA_POLICY_VERSION_MINOR * 100 + MLA_POLICY_VERSION_PATCH;
  const uint32_t decode =
      MLA_DECODE_VERSION_MAJOR * 10000 + MLA_DECODE_VERSION_MINOR * 100 + MLA_DECODE_VERSION_PATCH;
  std::printf("policy: compiled for %u, loaded %u\n", policy, mla_policy_version());
  std::printf("decode: compiled for %u, loaded %u\n", decode, mla_decode_version());
  mla_policy_close(nullptr);
  mla_decode_close(nullptr);
  return mla_policy_version() == policy && mla_decode_version() == decode ? 0 : 1;
}
