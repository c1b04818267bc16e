// SPDX-License-Identifier: MIT
// What answers in place of the lookup: the default policy, with some knobs held at given values.
// Three uses: lookups switched off, a configuration pinned for an A/B comparison, and the
// deterministic mode.
#pragma once

#include <array>
#include <string>

#include "policy/lookup.h"

namespace mla::policy {

class Override {
 public:
  // Nothing is held: the default.
  static Override off();
  // The knobs of a text like "splits=32 wait=partial". Throws Error(kUsage) where the text cannot
  // be read or a value is legal for no shape of the device.
  static Override pin(const std::string& knobs, const Space& space);
  // The knobs that decide how a row's sums are associated do not depend on the batch, so that a
  // request's result depends on its own rows and not on the requests beside it: the splits are
  // held, the others are those of a default without costs, which do not depend on it. The price is
  // that the splits no longer follow the batch: those taken here fill the device at eight row
  // groups.
  static Override deterministic(const Space& space);

  // No allocation, no throw. A configuration that is not legal for the shape gives the default.
  Answer answer(const Problem& problem, const LookupTable& defaults) const noexcept;

  // At most so many splits where they are held; 0 where they are not.
  int32_t splits() const;

  // For people, and equal for overrides that answer the same.
  const std::string& text() const { return text_; }

 private:
  Override(std::string text, const char* reason) : text_(std::move(text)), reason_(reason) {}
  void hold(Knob knob, int32_t value);

  std::string text_;
  const char* reason_;
  KernelConfig values_;
  std::array<bool, kKnobCount> held_{};
  bool any_length_ = false;  // the default is asked without its costs
};

}  // namespace mla::policy
