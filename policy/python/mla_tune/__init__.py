# SPDX-License-Identifier: MIT
"""mla-tune for serving engines in Python, over libmla_policy and libmla_decode by ctypes: nothing to compile.

    decoder = Decoder("hip:0")
    policy = Policy(**decoder.device, paths=["tuning.db"])
    plan = policy.lookup(batch, nhead, seq_len)          # memoised
    decoder.decode(plan, q, kv, kv_indptr, kv_indices, last_page_len, out, softmax_scale=scale, stream=stream)

An engine with kernels of its own needs Policy alone; libmla_decode is loaded when the first Decoder is made.
"""
from .decode import DecodeError, Decoder, workspace_bytes
from .policy import Mode, Plan, Policy, Shape, make_shape

__all__ = ["DecodeError", "Decoder", "Mode", "Plan", "Policy", "Shape", "make_shape", "workspace_bytes"]
