// SPDX-License-Identifier: MIT
// A library that is loaded late, as Python and plugins do: the first plan of a thread that is older
// than the library. Thread-local storage would be allocated right there.
#define BOOST_TEST_MODULE policy_dlopen
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "policy/mla_policy.h"
#include "tests/support/allocations.h"
#include "tests/support/system_calls.h"

using namespace mla::testing;

namespace {

struct Library {
  Library() : handle(dlopen(MLA_POLICY_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {
    BOOST_REQUIRE_MESSAGE(handle != nullptr, dlerror());
    plan = reinterpret_cast<decltype(plan)>(dlsym(handle, "mla_policy_plan"));
    auto* const open =
        reinterpret_cast<decltype(&mla_policy_open)>(dlsym(handle, "mla_policy_open"));
    mla_device_desc device{};
    device.struct_size = sizeof device;
    device.compute_units = 256;
    device.arch = "gfx950";
    BOOST_REQUIRE(open(nullptr, 0, &device, &policy) == MLA_ERROR_DATABASE);
  }
  ~Library() {
    reinterpret_cast<decltype(&mla_policy_close)>(dlsym(handle, "mla_policy_close"))(policy);
    dlclose(handle);
  }

  int32_t splits() const {
    mla_shape shape{};
    shape.struct_size = sizeof shape;
    shape.batch = 16;
    shape.seq_len = 68000;
    shape.nhead = 12;
    shape.q_len = 1;
    shape.page_size = 1;
    shape.imbalance = 1;
    mla_plan result{};
    result.struct_size = sizeof result;
    plan(policy, &shape, &result);
    return result.splits;
  }

  void* handle;
  decltype(&mla_policy_plan) plan = nullptr;
  mla_policy* policy = nullptr;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_plan_of_a_thread_older_than_the_library_allocates_nothing) {
  BOOST_TEST(dlopen(MLA_POLICY_LIBRARY, RTLD_NOW | RTLD_NOLOAD) == nullptr);
  std::atomic<const Library*> handed_over{nullptr};
  uint64_t allocated = 1;
  int32_t splits = 0;
  std::thread older([&] {
    const Library* library = nullptr;
    while ((library = handed_over) == nullptr) std::this_thread::yield();
    const uint64_t before = allocations;
    splits = library->splits();
    allocated = allocations - before;
  });
  const Library library;
  handed_over = &library;
  older.join();
  BOOST_TEST(splits == 16);
  BOOST_TEST(allocated == 0u);
}

BOOST_AUTO_TEST_CASE(the_first_plan_of_a_thread_older_than_the_library_makes_no_system_call,
                     *kForbidding) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<const Library*> handed_over{nullptr};
    std::atomic<int> phase{0};
    std::thread older([&] {
      const Library* library = nullptr;
      while ((library = handed_over) == nullptr) std::this_thread::yield();
      const bool forbidden = forbid_system_calls();
      phase = library->splits() == 16 && forbidden ? 1 : 2;
      exit_thread(0);
    });
    const Library library;
    handed_over = &library;
    while (phase == 0) std::this_thread::yield();
    _exit(phase == 1 ? 0 : 1);
  }
  BOOST_TEST(status_of_child(child) == 0);
}
