# SPDX-License-Identifier: MIT
"""The ctypes module against the built library, with the default policy of an MI355X and of a CPU."""
import os
import sys
import tempfile
import unittest
import warnings

from mla_policy import Policy, make_shape

DEVICE = dict(arch="gfx950", compute_units=256, xcds=8)


class PolicyTest(unittest.TestCase):
    def open(self, **device):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Policy(paths=[], **(device or DEVICE))

    def test_a_plan_has_every_knob_and_its_source(self):
        with self.open() as policy:
            plan = policy.plan(batch=8, nhead=12, seq_len=68000)
            self.assertEqual((plan.splits, plan.tile_n, plan.stages, plan.wait), (32, 64, 2, 0))
            self.assertEqual((plan.order, plan.stage1_warps), (0, 4))
            self.assertEqual((plan.stage2_tiles, plan.stage2_warps, plan.schedule), (4, 2, 0))
            self.assertEqual((plan.source_name, plan.reason), ("default", "shape not tuned"))
            self.assertEqual(plan.database, -1)
            self.assertLessEqual(plan.workspace_bytes,
                                 policy.workspace_bound(batch=8, nhead=12))

    def test_a_shape_is_reusable_and_counted(self):
        with self.open(arch="x86-64", compute_units=2) as policy:
            shape = make_shape(batch=1, nhead=12, seq_len=4096)
            for _ in range(3):
                self.assertEqual(policy.plan(shape).splits, 2)
            self.assertEqual(policy.counts()["default"], 3)

    def test_a_shape_out_of_range_raises(self):
        with self.open() as policy, self.assertRaisesRegex(ValueError, "out of range"):
            policy.plan(batch=-1, nhead=12, seq_len=68000)

    def test_a_missing_file_is_one_warning_that_names_it(self):
        with self.assertWarnsRegex(RuntimeWarning, "/nonexistent/tuning.db") as caught:
            policy = Policy(paths=["/nonexistent/tuning.db"], **DEVICE)
        self.assertEqual(len(caught.warnings), 1)
        self.assertFalse(policy.reload())
        policy.close()

    def test_a_path_that_is_not_utf8_is_named_and_not_an_error(self):
        with self.assertWarns(RuntimeWarning) as caught:
            policy = Policy(paths=[b"/nonexistent/\xff.db"], **DEVICE)
        self.assertIn(os.fsdecode(b"\xff.db"), str(caught.warning))
        policy.close()

    def test_a_closed_policy_raises_and_closing_again_is_allowed(self):
        policy = self.open()
        policy.close()
        policy.close()
        with self.assertRaisesRegex(ValueError, "no policy"):
            policy.plan(batch=1, nhead=12, seq_len=1024)

    def test_a_file_of_noise_is_a_warning_and_the_default(self):
        with tempfile.NamedTemporaryFile() as noise:
            noise.write(b"x" * 5000)
            noise.flush()
            with self.assertWarnsRegex(RuntimeWarning, "not an SQLite database"):
                policy = Policy(paths=[noise.name], **DEVICE)
            with policy:
                self.assertFalse(policy.reload())
                self.assertEqual(policy.plan(batch=8, nhead=12, seq_len=68000).splits, 32)

    def test_an_unusable_device_raises(self):
        with self.assertRaises(ValueError):
            self.open(arch="gfx950", compute_units=0)


if __name__ == "__main__":
    os.environ.pop("MLA_TUNE_MODE", None)
    unittest.main(argv=sys.argv[:1])
