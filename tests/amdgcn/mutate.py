#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a copy of one kernel source with one thing removed: what a test must be able to notice.

    mutate.py NAME SOURCE_ROOT OUTPUT_ROOT
"""
import pathlib
import sys

STAGE1 = "kernels/gpu/amd_stage1.cuh"
RING = "kernels/gpu/amd_ring.cuh"
ISA = "kernels/gpu/amd_isa.cuh"

# name: (source, what has to be there exactly once, what it becomes)
MUTATIONS = {
    "no_wait": (STAGE1, "      wait_copies<kYounger * Ring::kCopies>();\n", ""),
    "one_copy_too_few_retired": (
        STAGE1,
        "wait_copies<kYounger * Ring::kCopies>",
        "wait_copies<kYounger * Ring::kCopies + 1>",
    ),
    "no_barrier_behind_the_wait": (
        STAGE1,
        "      barrier();\n      compute(block, kMayBeMasked);\n",
        "      compute(block, kMayBeMasked);\n",
    ),
    "no_loop_end_barrier": (STAGE1, "      barrier();  // the stage is free\n", ""),
    "barrier_without_lgkmcnt": (ISA, "s_waitcnt lgkmcnt(0)\\n\\ts_barrier", "s_barrier"),
    "wrong_swizzle": (RING, " ^ Layout::swizzle(tile_row(g)) * 16", ""),
    "page_prefetch_one_turn_late": (
        RING,
        "fetch_pages(issued_ / kTurnBlocks + 1)",
        "fetch_pages(issued_ / kTurnBlocks)",
    ),
    "page_prefetch_one_row_off": (
        RING,
        "clamped(walk_.first_row(block) + row)",
        "clamped(walk_.first_row(block) + row + 1)",
    ),
    "rows_behind_the_end": (RING, "return min(n, walk_.end - 1);", "return n;"),
}


def main() -> None:
    name, source_root, output_root = sys.argv[1:]
    source, old, new = MUTATIONS[name]
    text = (pathlib.Path(source_root) / source).read_text()
    if text.count(old) != 1:
        sys.exit(f"{source}: {text.count(old)} places to make the mutation {name} at, not one")
    output = pathlib.Path(output_root) / source
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text.replace(old, new))


if __name__ == "__main__":
    main()
