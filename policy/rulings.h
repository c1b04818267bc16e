// SPDX-License-Identifier: MIT
// What a lookup answers for each ruling. Private to policy/.
#pragma once

#include <iterator>

#include "policy/shape_table.h"

namespace mla::policy {

// What an entry's ruling means for the answer.
struct RulingRow {
  Ruling ruling;
  bool wins;     // the entry's configuration is answered, else the default
  bool advises;  // the answer counts as exact
  bool carries;  // and as bucketed, at other lengths of the bucket
  const char* exact_reason;
  const char* bucket_reason;
  const char* robust_reason;
};
inline constexpr RulingRow kRulings[] = {
    {Ruling::kWinner,
     true,
     true,
     true,
     "tuned at this very shape",
     "tuned at a length of this bucket",
     "of least worst-case regret over the lengths it was measured at"},
    {Ruling::kVerifyAgain,
     true,
     true,
     false,
     "tuned at this very shape in another environment: verify again",
     "the tuned lengths of this bucket have to be verified again",
     "the plan for unknown lengths has to be verified again"},
    {Ruling::kDefaultBest,
     false,
     true,
     true,
     "default is best here",
     "default is best here",
     "default is best over the lengths measured"},
    {Ruling::kUndecided,
     false,
     true,
     true,
     "no candidate was certain to beat the default here",
     "no candidate was certain to beat the default here",
     "default is best over the lengths measured"},
    {Ruling::kDemoted,
     false,
     false,
     false,
     "demoted: the winner no longer holds here",
     "demoted: the winner of this bucket no longer holds",
     "demoted: the plan for unknown lengths no longer holds"},
    {Ruling::kFailed,
     false,
     false,
     false,
     "this shape could not be measured",
     "the tuned lengths of this bucket could not be measured",
     "unknown lengths could not be measured"},
    {Ruling::kDisagree,
     false,
     false,
     false,
     "tuned rows of this shape disagree",
     "tuned lengths of this bucket disagree",
     "plans for unknown lengths disagree"},
};

// Entries are rulings by number.
constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kRulings); ++i) {
    if (static_cast<size_t>(kRulings[i].ruling) != i) return false;
  }
  return std::size(kRulings) == static_cast<size_t>(Ruling::kDisagree) + 1;
}
static_assert(in_order());

}  // namespace mla::policy
