# SPDX-License-Identifier: MIT
"""The checks of text and of headers report what they are there to find."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools/dev"
LICENCE = "// SPDX-License-Identifier: MIT\n"


def run_check(command, files):
    """Exit status and output of a check over a tree of {name: text}."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        result = subprocess.run([*command, root], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr


class CheckText(unittest.TestCase):
    def assert_rejected(self, name, text, what):
        status, output = run_check([sys.executable, TOOLS / "check_text"], {name: text})
        self.assertEqual(status, 1, output)
        self.assertIn(what, output)

    def test_each_kind_of_violation_is_named(self):
        self.assert_rejected("db/a.cpp", LICENCE + '#include "/' + 'home/me/a.h"\n', "db/a.cpp:2: a path of a build machine")
        self.assert_rejected("db/a.cpp", LICENCE + "// TO" + "DO later\n", "db/a.cpp:2: a leftover marker")
        self.assert_rejected("db/a.cpp", LICENCE + "int a; \n", "db/a.cpp:2: a trailing blank")
        self.assert_rejected("db/a.cpp", "int a;\n", "db/a.cpp:1: no SPDX")
        self.assert_rejected("tools/run", "#!/usr/bin/env bash\ntrue\n", "tools/run:1: no SPDX")

    def test_a_clean_tree_passes_and_long_files_are_only_noted(self):
        status, output = run_check([sys.executable, TOOLS / "check_text"], {"db/a.cpp": LICENCE + "int a;\n" * 400})
        self.assertEqual(status, 0, output)
        self.assertIn("note: db/a.cpp has 401 lines", output)


class CheckHeaders(unittest.TestCase):
    def test_a_header_that_needs_another_one_first_is_rejected(self):
        status, output = run_check([TOOLS / "check_headers"], {"db/a.h": "std::string text();\n"})
        self.assertNotEqual(status, 0)
        self.assertIn("does not compile by itself as c++20: db/a.h", output)

    def test_a_header_is_left_to_the_build_only_if_its_source_includes_it_first(self):
        header = {"db/a.h": "std::string text();\n"}
        first = {"db/a.cpp": '// a\n#include "db/a.h"\n'}
        second = {"db/a.cpp": '#include <string>\n#include "db/a.h"\n'}
        self.assertEqual(run_check([TOOLS / "check_headers"], header | first)[0], 0)
        self.assertNotEqual(run_check([TOOLS / "check_headers"], header | second)[0], 0)

    def test_a_plain_header_of_kernels_is_held_to_cxx17(self):
        text = "#include <concepts>\nstatic_assert(std::integral<int>);\n"
        self.assertNotEqual(run_check([TOOLS / "check_headers"], {"kernels/a.h": text})[0], 0)
        self.assertEqual(run_check([TOOLS / "check_headers"], {"tuner/a.h": text})[0], 0)

    def test_the_c_interface_is_held_to_c99(self):
        text = "struct mla_shape { bool known; };\n"
        self.assertNotEqual(run_check([TOOLS / "check_headers"], {"policy/mla_policy.h": text})[0], 0)


if __name__ == "__main__":
    unittest.main()
