// SPDX-License-Identifier: MIT
// What the program says of the devices of a machine, whatever GPU backend it was built with.
#define BOOST_TEST_MODULE tools_devices
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

using namespace mla::testing;

namespace {

nlohmann::json listed_devices() {
  const ProgramResult result = run({"devices", "--json"});
  BOOST_REQUIRE_EQUAL(result.status, 0);
  return nlohmann::json::parse(result.out);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_cpu_is_usable_in_every_build) {
  const nlohmann::json json = listed_devices();
  int cpus = 0;
  for (const auto& device : json["devices"]) {
    if (device["spec"] == "cpu" && device["usable"] == true) ++cpus;
  }
  BOOST_CHECK_EQUAL(cpus, 1);
}

// The program with a GPU backend starts where there is neither GPU nor driver.
BOOST_AUTO_TEST_CASE(a_gpu_is_usable_or_the_note_says_why_there_is_none) {
  const nlohmann::json json = listed_devices();
  int gpus = 0;
  for (const auto& device : json["devices"]) {
    if (device["spec"].get<std::string>().rfind("hip:", 0) != 0) continue;
    ++gpus;
    const std::string note = device["note"];
    BOOST_CHECK_MESSAGE(device["usable"] == true || note.rfind("no GPU", 0) == 0, note);
  }
  BOOST_CHECK_EQUAL(gpus > 0, MLA_GPU_BACKEND);
}
