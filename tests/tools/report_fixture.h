// SPDX-License-Identifier: MIT
// One HTML report with everything in it, made by the program: a grid of shapes, a shared prefix,
// failures, a recording without times, a device with a hostile name, a sweep, an older database.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "db/fake_winners.h"
#include "kernels/known_devices.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

namespace mla::testing {

inline constexpr const char* kHostileName = "<script>document.title='run'</script>\"'><b>&amp;\x01";
inline constexpr const char* kFaultyDevice = "faulty:wrong@tile_n=32:cpu";

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ReportFixture {
 public:
  ReportFixture() {
    for (const char* name : {"old.db", "new.db"}) {
      tune(name, kFormula, {"--batch", "1,8,64", "--seq-len", "1024,8192,131072"});
    }
    tune("new.db", kFormula, {"--batch", "8", "--seq-len", "8192", "--shared-prefix", "4096"});
    tune("new.db", kFaultyDevice, {"--batch", "1", "--seq-len", "64", "--rounds", "15"});
    tune("new.db", kRecorded, {});
    DeviceInfo hostile = device_info_of(*find_known_device("MI355X"));
    hostile.name = kHostileName;
    db::write_fake_winners(file("new.db"), hostile, 6, 1);
    done({"sweep", "levers", "--device", kRecorded, "-q", "--csv", file("levers.csv")});
    done({"report",
          "--html",
          file("report.html"),
          "--db",
          file("new.db"),
          "--against",
          file("old.db"),
          "--from",
          file("levers.csv"),
          "-q"});
  }

  std::string file(const std::string& name) const { return directory_.file(name); }
  std::string page() const { return contents(file("report.html")); }

 private:
  static constexpr const char* kFormula = "analytic:cus=132,xcds=1";
  static constexpr const char* kRecorded = "replay:" MLA_TEST_ASSETS "/seed_levers.csv";

  void tune(const std::string& database,
            const std::string& device,
            std::vector<std::string> shapes) {
    std::vector<std::string> args = {
        "run", "--device", device, "--db", file(database), "-q", "--max-configs", "60"};
    args.insert(args.end(), shapes.begin(), shapes.end());
    done(args);
  }

  static void done(const std::vector<std::string>& args) {
    const ProgramResult result = run(args);
    if (result.status != 0) throw std::runtime_error(args[0] + ": " + result.err);
  }

  TemporaryDirectory directory_;
};

inline const ReportFixture& report() {
  static const ReportFixture made;
  return made;
}

}  // namespace mla::testing
