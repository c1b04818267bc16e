// SPDX-License-Identifier: MIT
// Runs a thread where the kernel kills the process at the next system call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstddef>

namespace mla::testing {

// From here on any call of this thread but exit() kills the process. A filter and not the strict
// mode, which a container that filters calls already refuses.
inline bool forbid_system_calls() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// exit_group(), which exit() uses, is forbidden; the exit of one thread is not.
[[noreturn]] inline void exit_thread(int status) {
  for (;;) syscall(SYS_exit, status);
}

inline int status_of_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

inline boost::test_tools::assertion_result calls_can_be_forbidden(boost::unit_test::test_unit_id) {
  const pid_t child = fork();
  if (child == 0) exit_thread(forbid_system_calls() ? 0 : 77);
  boost::test_tools::assertion_result result(status_of_child(child) == 0);
  result.message() << "seccomp filters are not permitted here";
  return result;
}

// A test that needs it is skipped where it is not permitted.
inline const auto kForbidding = boost::unit_test::precondition(calls_can_be_forbidden);

}  // namespace mla::testing
