// SPDX-License-Identifier: MIT
#include "tuner/stats.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

namespace mla::tuner {
namespace {

// Deviations of a normal distribution: sigma = 1.4826 x the median absolute deviation.
constexpr double kSigmaPerDeviation = 1.4826;

double sorted_quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {
      sorted_quantile(values, 0.25), sorted_quantile(values, 0.5), sorted_quantile(values, 0.75)};
}

double median_deviation(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return median(std::move(deviations));
}

double relative_spread(const std::vector<double>& values) {
  const double middle = median(values);
  return middle == 0 ? 0 : kSigmaPerDeviation * median_deviation(values) / middle;
}

double sign_test_p(int wins, int rounds) {
  if (rounds <= 0 || wins <= 0) return 1;
  const boost::math::binomial coin(rounds, 0.5);
  return boost::math::cdf(boost::math::complement(coin, wins - 1));
}

}  // namespace mla::tuner
