// SPDX-License-Identifier: MIT
// Order statistics and the sign test. Medians and quartiles, never means: a timing has outliers.
#pragma once

#include <vector>

namespace mla::tuner {

struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};

// Linear interpolation between the two nearest order statistics; q in [0, 1]. 0 for no values.
double quantile(std::vector<double> values, double q);
double median(std::vector<double> values);
Quartiles quartiles(std::vector<double> values);

// Median absolute deviation from the median, unscaled.
double median_deviation(const std::vector<double>& values);
// The standard deviation of the normal distribution with that median deviation, relative to the
// median. 0 where the median is 0.
double relative_spread(const std::vector<double>& values);

// One-sided sign test: the probability of at least `wins` of `rounds` by fair coin flips. 1 for no
// rounds.
double sign_test_p(int wins, int rounds);

}  // namespace mla::tuner
