# SPDX-License-Identifier: MIT
"""The lookup of the Python package against the built library, with the default policy of an MI355X and of a CPU."""
import os
import sys
import tempfile
import unittest
import warnings

from mla_tune import Mode, Policy, make_shape

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

    def test_a_plan_is_read_only_and_its_size_is_set(self):
        with self.open() as policy:
            plan = policy.plan(batch=8, nhead=12, seq_len=68000)
            with self.assertRaisesRegex(AttributeError, "read-only"):
                plan.splits = 1
            self.assertEqual((plan.splits, plan.struct_size), (32, 96))

    def test_a_remembered_lookup_is_the_plan_and_is_counted_once(self):
        with self.open() as policy:
            first = policy.lookup(8, 12, 68000)
            self.assertIs(policy.lookup(8, 12, 68000), first)
            self.assertEqual(first.splits, 32)
            self.assertEqual(policy.lookup(8, 12, 68000, 2).splits, 16)
            self.assertEqual(policy.counts()["default"], 2)

    def test_the_memory_of_lookups_is_bounded(self):
        with self.open() as policy:
            for seq_len in range(1, 10_000):
                policy.lookup(8, 12, seq_len)
            self.assertLessEqual(policy.lookup.cache_info().currsize, 4096)

    def test_a_pin_a_mode_and_a_reload_forget_what_was_remembered(self):
        with self.open() as policy:
            policy.lookup(8, 12, 68000)
            policy.pin("splits=4")
            self.assertEqual(policy.lookup(8, 12, 68000).splits, 4)
            policy.pin(None)
            policy.set_mode(Mode.OFF)
            self.assertEqual(policy.lookup(8, 12, 68000).source_name, "disabled")
            policy.set_mode(Mode.LOOKUP)
            self.assertEqual(policy.lookup(8, 12, 68000).source_name, "default")
            policy.reload()
            self.assertEqual(policy.lookup.cache_info().currsize, 0)

    def test_a_pin_that_cannot_be_meant_raises_with_the_reason(self):
        with self.open() as policy, self.assertRaisesRegex(ValueError, "tile_n=48 is legal for no shape"):
            policy.pin("tile_n=48")

    def test_equal_policies_have_an_equal_fingerprint(self):
        with self.open() as one, self.open() as two:
            self.assertEqual(one.fingerprint(), two.fingerprint())
            two.set_mode(Mode.DETERMINISTIC)
            self.assertNotEqual(one.fingerprint(), two.fingerprint())

    def test_misses_are_listed_with_the_time_that_was_reported(self):
        with self.open() as policy:
            shape = make_shape(batch=8, nhead=12, seq_len=68000)
            policy.plan(shape)
            policy.report(shape, 12.5)
            self.assertEqual(policy.misses().splitlines()[1], "1\t12.500\tbatch=8 nhead=12 seq_len=68000")
            with self.assertRaises(ValueError):
                policy.report(shape, -1)

    def test_an_unusable_device_raises(self):
        with self.assertRaises(ValueError):
            self.open(arch="gfx950", compute_units=0)


if __name__ == "__main__":
    os.environ.pop("MLA_TUNE_MODE", None)
    unittest.main(argv=sys.argv[:1])
