// SPDX-License-Identifier: MIT
// What doctor says about machines that lie in a folder, GPUs that do not exist, and real databases.
#define BOOST_TEST_MODULE tools_doctor
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"
#include "tools/doctor/finding.h"

namespace {

using namespace mla::testing;
using namespace mla::tools;
using Json = nlohmann::json;

// A root folder whose files say what a machine would.
struct Machine {
  TemporaryDirectory directory;

  void file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void cpu_file(const std::string& name, const std::string& text) const {
    file("sys/devices/system/cpu/" + name, text);
  }
  Findings clocks(int cpus) const { return cpu_clock_findings(directory.path(), cpus); }
};

Finding named(const Findings& findings, const std::string& name) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.name == name;
  });
  if (found == findings.end()) throw std::runtime_error("no finding " + name);
  return *found;
}

// The findings of the program, and its exit status in *status.
Json doctor(std::vector<std::string> args, int* status) {
  args.insert(args.begin(), "doctor");
  args.push_back("--json");
  const ProgramResult result = run(args, {.environment = {{"MLA_TUNE_MODE", "off"}}});
  *status = result.status;
  return Json::parse(result.out)["findings"];
}

Json of(const Json& findings, const std::string& section, const std::string& name) {
  for (const Json& finding : findings) {
    if (finding["section"] == section && finding["name"] == name) return finding;
  }
  throw std::runtime_error("no finding " + section + " " + name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(clocks_that_follow_the_load_are_a_warning_that_says_how_to_fix_them) {
  const Machine machine;
  machine.cpu_file("cpu0/cpufreq/scaling_governor", "performance");
  machine.cpu_file("cpu1/cpufreq/scaling_governor", "performance");
  BOOST_TEST((named(machine.clocks(2), "governor").health == Health::kOk));
  machine.cpu_file("cpu1/cpufreq/scaling_governor", "powersave");
  const Finding governor = named(machine.clocks(2), "governor");
  BOOST_TEST((governor.health == Health::kWarning));
  BOOST_TEST(governor.value == "performance, powersave");
  BOOST_TEST(governor.advice.find("cpupower") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(boost_is_read_from_either_driver) {
  const Machine machine;
  BOOST_TEST(named(machine.clocks(2), "boost").value == "not readable");
  machine.cpu_file("intel_pstate/no_turbo", "1");
  BOOST_TEST(named(machine.clocks(2), "boost").value == "off");
  machine.cpu_file("intel_pstate/no_turbo", "0");
  BOOST_TEST(named(machine.clocks(2), "boost").value == "on");
}

BOOST_AUTO_TEST_CASE(throttled_busy_and_confined_cpus_are_warnings) {
  const Machine machine;
  machine.cpu_file("cpu0/thermal_throttle/core_throttle_count", "2");
  machine.cpu_file("cpu1/thermal_throttle/core_throttle_count", "3");
  machine.file("proc/loadavg", "3.50 1.00 0.50 2/300 4711");
  machine.file("sys/fs/cgroup/cpu.max", "150000 100000");
  const Findings findings = machine.clocks(4);
  for (const char* name : {"throttling", "load", "CPU quota"}) {
    BOOST_TEST((named(findings, name).health == Health::kWarning), name);
  }
  BOOST_TEST(named(findings, "throttling").value.starts_with("5 events"));
  BOOST_TEST(named(findings, "CPU quota").value == "1.5 CPUs");
  BOOST_TEST((named(machine.clocks(16), "load").health == Health::kOk));
}

BOOST_AUTO_TEST_CASE(a_machine_that_tells_nothing_is_no_warning) {
  const Machine machine;
  for (const Finding& finding : machine.clocks(2)) {
    BOOST_TEST((finding.health == Health::kNote || finding.health == Health::kOk), finding.name);
  }
  BOOST_TEST(device_node_findings(machine.directory.path()).front().value ==
             "no GPU is visible here");
}

BOOST_AUTO_TEST_CASE(the_device_nodes_of_a_gpu_are_found) {
  const Machine machine;
  machine.file("dev/nvidia0", "");
  machine.file("dev/nvidia-uvm", "");
  machine.file("dev/dri/renderD128", "");
  const Findings nodes = device_node_findings(machine.directory.path());
  BOOST_TEST(nodes.size() == 2U);
  BOOST_TEST((named(nodes, "/dev/nvidia0").health == Health::kOk));
}

BOOST_AUTO_TEST_CASE(a_hot_gpu_that_others_use_is_warned_of_and_an_idle_one_is_not) {
  const Findings findings = nvidia_findings(MLA_FAKE_NVML);
  BOOST_TEST(findings.size() == 6U);
  BOOST_TEST((named(findings, "GPU 0").health == Health::kOk));
  const Finding hot = named(findings, "GPU 1");
  BOOST_TEST((hot.health == Health::kWarning));
  BOOST_TEST(hot.value ==
             "SM 1500 of 1980 MHz, memory 3201 MHz, 91 C, lowered by: power cap, temperature "
             "(hardware)");
  BOOST_TEST((named(findings, "GPU 1 processes").health == Health::kWarning));
  BOOST_TEST(nvidia_findings("/nonexistent/libnvidia-ml.so").empty());
}

BOOST_AUTO_TEST_CASE(a_sound_database_counts_the_rows_that_answer_here) {
  TemporaryDirectory directory;
  const std::string path = directory.file("a.db");
  BOOST_REQUIRE(
      run({"run", "--device", "analytic", "--batch", "1", "--seq-len", "1024", "--db", path, "-q"})
          .status == 0);
  int status = -1;
  const Json same = doctor({"--db", path, "--device", "analytic"}, &status);
  BOOST_TEST(status == 0, same.dump());
  BOOST_TEST(of(same, "databases", path)["value"].get<std::string>().starts_with("sound; schema"));
  BOOST_TEST(
      of(same, "databases", "reachable rows of " + path)["value"].get<std::string>().starts_with(
          "1 for "));
  // On another device the row is there and answers nothing.
  const Json other = doctor({"--db", path, "--device", "analytic:cus=64"}, &status);
  BOOST_TEST(of(other, "databases", "answers")["state"] == "warning");
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(an_installed_file_that_holds_nothing_for_this_device_is_no_warning) {
  TemporaryDirectory directory;
  const std::string path = directory.file("share/mla-tune/tuned.db");
  BOOST_REQUIRE(
      run({"run", "--device", "analytic", "--batch", "1", "--seq-len", "1024", "--db", path, "-q"})
          .status == 0);
  const ProgramOptions installed = {.environment = {{"XDG_DATA_DIRS", directory.file("share")},
                                                    {"XDG_DATA_HOME", directory.file("home")}}};
  const ProgramResult elsewhere =
      run({"doctor", "--device", "analytic:cus=64", "--json"}, installed);
  const Json findings = Json::parse(elsewhere.out)["findings"];
  BOOST_TEST(of(findings, "databases", "reachable rows of " + path)["state"] == "note");
  for (const Json& finding : findings) {
    if (finding["section"] == "databases") BOOST_TEST(finding["state"] != "warning", finding);
  }
}

BOOST_AUTO_TEST_CASE(rows_of_another_device_are_no_warning_beside_a_file_that_answers) {
  TemporaryDirectory directory;
  const auto tuned = [&](const std::string& name, const std::string& device) {
    const std::string path = directory.file(name);
    const ProgramResult result =
        run({"run", "--device", device, "--batch", "1", "--seq-len", "1024", "--db", path, "-q"});
    BOOST_REQUIRE(result.status == 0);
    return path;
  };
  const std::string other = tuned("other.db", "analytic:cus=64"), own = tuned("own.db", "analytic");
  int status = -1;
  const Json findings = doctor({"--db", other, "--db", own, "--device", "analytic"}, &status);
  BOOST_TEST(of(findings, "databases", "reachable rows of " + other)["state"] == "note");
  BOOST_CHECK_THROW(of(findings, "databases", "answers"), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_does_not_hide_the_files_before_it) {
  TemporaryDirectory directory;
  int status = -1;
  const std::string path = directory.file("a.db");
  const Json findings = doctor({"--db", path, "--device", "analytic"}, &status);
  BOOST_TEST(of(findings, "databases", path)["value"] ==
             "does not exist yet; the files before it answer, else the default");
}

BOOST_AUTO_TEST_CASE(a_damaged_database_is_a_problem_and_exit_status_1) {
  TemporaryDirectory directory;
  const std::string path = directory.file("a.db");
  std::ofstream(path) << "this is no database, and long enough to be looked at as one";
  int status = -1;
  const Json findings = doctor({"--db", path, "--device", "analytic"}, &status);
  BOOST_TEST(status == 1);
  BOOST_TEST(of(findings, "databases", path)["state"] == "problem");
  BOOST_TEST(run({"doctor", "--db", path, "--device", "analytic", "-q"}).out.find("problems: 1") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_a_problem_and_a_misspelt_one_a_usage_error) {
  TemporaryDirectory directory;
  int status = -1;
  const Json findings = doctor({"--db", directory.file("a.db"), "--device", "hip:97"}, &status);
  BOOST_TEST(status == 1);
  BOOST_TEST(of(findings, "devices", "hip:97")["state"] == "problem");
  BOOST_TEST(run({"doctor", "--db", directory.file("a.db"), "--device", "tpu"}).status == 2);
}

BOOST_AUTO_TEST_CASE(every_setting_says_where_it_comes_from) {
  TemporaryDirectory directory;
  int status = -1;
  const Json findings = doctor({"--db", directory.file("a.db"), "--device", "analytic"}, &status);
  BOOST_TEST(of(findings, "settings", "database")["origin"] == "--db");
  BOOST_TEST(of(findings, "settings", "device")["origin"] == "--device");
  BOOST_TEST(of(findings, "settings", "policy mode")["origin"] == "MLA_TUNE_MODE");
  BOOST_TEST(of(findings, "settings", "policy mode")["value"] == "off");
  BOOST_TEST(of(findings, "settings", "policy pin")["origin"] == "default");
}

BOOST_AUTO_TEST_CASE(an_unknown_mode_of_the_library_is_a_warning) {
  const Environment mode("MLA_TUNE_MODE", "fast");
  Options options;
  options.databases = {"a.db"};
  BOOST_TEST((named(setting_findings(options), "policy mode").health == Health::kWarning));
}
