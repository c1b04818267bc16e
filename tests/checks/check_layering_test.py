# SPDX-License-Identifier: MIT
"""The layering check reports each kind of violation and lets the permitted includes pass."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools/dev/check_layering"


def load_check():
    loader = importlib.machinery.SourceFileLoader("check_layering", str(CHECK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


violations = load_check().violations


class CheckLayering(unittest.TestCase):
    def assert_rejected(self, name, line):
        found = violations(name, f"// first line\n{line}\n")
        self.assertEqual(len(found), 1, f"{name}: {line}")
        self.assertTrue(found[0].startswith(f"{name}:2: "), found)

    def assert_accepted(self, name, line):
        self.assertEqual(violations(name, line), [])

    def test_a_planted_include_is_rejected(self):
        for name, header in [
            ("kernels/problem.h", '"kernels/device.h"'),
            ("kernels/config.cpp", "<sys/mman.h>"),
            ("kernels/host/host_device.cpp", '"db/store.h"'),
            ("kernels/host/host_device.cpp", "<fmt/format.h>"),
            ("kernels/hip/hip_device.hip", "<cuda_runtime.h>"),
            ("kernels/gpu/launch.cuh", '"tuner/session.h"'),
            ("db/store.h", "<SQLiteCpp/SQLiteCpp.h>"),
            ("db/store.cpp", '"policy/lookup.h"'),
            ("db/store.cpp", '"kernels/device.h"'),
            ("policy/lookup.cpp", '"db/store.h"'),
            ("policy/lookup.cpp", "<sqlite3.h>"),
            ("policy/lookup.cpp", "<hip/hip_runtime.h>"),
            ("tuner/session.cpp", '"tools/term.h"'),
            ("tuner/guard.h", "<fmt/format.h>"),
            ("tools/main.cpp", '"tests/support/sample_records.h"'),
            ("tools/report.cpp", "<sqlite3.h>"),
            ("tests/db/store_test.cpp", '"tests/policy/table.h"'),
        ]:
            with self.subTest(name=name, header=header):
                self.assert_rejected(name, f"#include {header}")

    def test_a_planted_call_is_rejected(self):
        for name, call in [
            ("tuner/session.cpp", 'std::cout << "done";'),
            ("db/store.cpp", 'fprintf(stderr, "locked");'),
            ("policy/lookup.cpp", 'const char* db = std::getenv("MLA_TUNE_DB");'),
            ("kernels/devices.cpp", "std::exit(1);"),
        ]:
            with self.subTest(name=name, call=call):
                self.assert_rejected(name, call)

    def test_what_a_layer_needs_is_accepted(self):
        for name, line in [
            ("kernels/problem.h", "#include <string_view>"),
            ("kernels/host/host_device.cpp", "#include <sys/mman.h>"),
            ("kernels/hip/hip_runtime.cuh", "#include <hip/hip_runtime.h>"),
            ("db/store.cpp", "#include <SQLiteCpp/SQLiteCpp.h>"),
            ("policy/lookup.cpp", '#include "db/snapshot.h"'),
            ("policy/default_files.cpp", 'const char* db = std::getenv("MLA_TUNE_DB");'),
            ("tuner/stats.cpp", "#include <boost/math/distributions/binomial.hpp>"),
            ("tools/main.cpp", 'std::cout << "done";'),
            ("tests/db/store_test.cpp", '#include "tests/support/sample_records.h"'),
            ("tests/db/store_test.cpp", '#include "tests/db/scratch_file.h"'),
        ]:
            with self.subTest(name=name, line=line):
                self.assert_accepted(name, line)

    def test_comments_and_literals_do_not_count_as_calls(self):
        self.assert_accepted("tuner/session.cpp", "// never std::cout here")
        self.assert_accepted("tuner/session.cpp", 'fail("exit(1) in the worker");')

    def test_the_exit_status_tells_a_clean_tree_from_others(self):
        for tree, expected in [({}, 1), ({"db/a.h": "#include <string>"}, 0), ({"db/a.h": "#include <sqlite3.h>"}, 1)]:
            with tempfile.TemporaryDirectory() as root:
                for name, text in tree.items():
                    (pathlib.Path(root) / name).parent.mkdir()
                    (pathlib.Path(root) / name).write_text(text)
                result = subprocess.run([sys.executable, CHECK, root], capture_output=True, check=False)
                self.assertEqual(result.returncode, expected, tree)


if __name__ == "__main__":
    unittest.main()
