# SPDX-License-Identifier: MIT
"""The run-time lookup: which configuration to launch for a decode step."""
import ctypes
import enum
import functools
import os
import warnings
from typing import Any, Callable, Optional, Sequence, Union

from ._abi import ERROR_DATABASE, OK, SOURCES, Counts, DeviceDesc, Plan, Shape, load_library

_POINTER = ctypes.c_void_p
_SIGNATURES = {
    "open": (ctypes.c_int, [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.POINTER(DeviceDesc),
                            ctypes.POINTER(_POINTER)]),
    "plan": (ctypes.c_int, [_POINTER, ctypes.POINTER(Shape), ctypes.POINTER(Plan)]),
    "workspace_bound": (ctypes.c_int, [_POINTER, ctypes.POINTER(Shape), ctypes.POINTER(ctypes.c_int64)]),
    "reload": (ctypes.c_int, [_POINTER]),
    "set_mode": (ctypes.c_int, [_POINTER, ctypes.c_int]),
    "pin": (ctypes.c_int, [_POINTER, ctypes.c_char_p]),
    "fingerprint": (ctypes.c_uint64, [_POINTER]),
    "report": (ctypes.c_int, [_POINTER, ctypes.POINTER(Shape), ctypes.c_double]),
    "misses": (ctypes.c_size_t, [_POINTER, ctypes.c_char_p, ctypes.c_size_t]),
    "close": (None, [_POINTER]),
    "status_text": (ctypes.c_size_t, [_POINTER, ctypes.c_char_p, ctypes.c_size_t]),
    "counts": (ctypes.c_int, [_POINTER, ctypes.POINTER(Counts)]),
}
_MEMO_ENTRIES = 4096  # of lookup(); a step of a serving engine asks for a handful of shapes


@functools.cache
def _library() -> ctypes.CDLL:
    return load_library("mla_policy", _SIGNATURES)


class Mode(enum.IntEnum):
    """What answers."""

    LOOKUP = 0
    OFF = 1            # the default policy
    DETERMINISTIC = 2  # a request's result does not depend on its batch


def make_shape(batch: int, nhead: int, seq_len: int = 0, q_len: int = 1, kv_dtype: int = 0, page_size: int = 1,
               shared_prefix: int = 0, share_group: int = 8, imbalance: int = 1, large_pool: bool = False) -> Shape:
    """seq_len is the mean over the batch, rounded up; 0 means unknown."""
    return Shape(batch=batch, nhead=nhead, seq_len=seq_len, q_len=q_len, kv_dtype=kv_dtype,
                 page_size=page_size, shared_prefix=shared_prefix, share_group=share_group,
                 imbalance=imbalance, large_pool=int(large_pool))


class Policy:
    """A policy for one device. Safe to use from any thread; a context manager."""

    def __init__(self, arch: str, compute_units: int, xcds: int = 1, partition: str = "", group_rows: int = 16,
                 local_memory_bytes: int = 0,
                 paths: Optional[Sequence[Union[str, bytes, os.PathLike]]] = None) -> None:
        """`paths`: database files, a later one's rows win; None takes MLA_TUNE_DB,
        else the installed file and the user's own. A file that cannot be used is a
        RuntimeWarning and its shapes get the default policy."""
        self._library = _library()
        self._handle = ctypes.c_void_p()
        device = DeviceDesc(compute_units=compute_units, xcds=xcds, group_rows=group_rows,
                            local_memory_bytes=local_memory_bytes, arch=arch.encode(),
                            partition=partition.encode())
        files = None
        if paths is not None:
            files = (ctypes.c_char_p * max(1, len(paths)))(*[os.fsencode(p) for p in paths])
        status = self._library.mla_policy_open(files, len(paths or ()), ctypes.byref(device),
                                               ctypes.byref(self._handle))
        if not self._handle:
            raise ValueError(f"mla_policy_open: status {status} for {arch}, {compute_units} CUs")
        for line in self.status_text().splitlines()[1:]:
            warnings.warn(line.removeprefix("warning: "), RuntimeWarning, stacklevel=2)
        self.lookup = self._memoised()

    def _memoised(self) -> Callable[..., Plan]:
        # One memo per policy, so that a reload of one does not empty that of another.
        @functools.lru_cache(_MEMO_ENTRIES)
        def lookup(*shape: int) -> Plan:
            """plan() with a memory, for callers that ask once a layer: the arguments of make_shape(), by position. A
            plan that is remembered is not counted again. reload(), set_mode() and pin() of this object forget."""
            return self.plan(make_shape(*shape))
        return lookup

    def plan(self, shape: Optional[Shape] = None, **fields: Any) -> Plan:
        """Of make_shape(), or of its arguments. Raises ValueError for a shape out of range."""
        shape = shape if shape is not None else make_shape(**fields)
        plan = Plan.empty()
        if self._library.mla_policy_plan(self._handle, shape, plan) != OK:
            raise ValueError(plan.reason)
        return plan

    def workspace_bound(self, **fields: Any) -> int:
        """Bytes that suffice for every plan with at most this batch, nhead and q_len."""
        size = ctypes.c_int64()
        status = self._library.mla_policy_workspace_bound(self._handle, make_shape(**fields), size)
        if status != OK:
            raise ValueError("shape out of range" if self._handle else "no policy")
        return size.value

    def reload(self) -> bool:
        """Reads the files again; False where one cannot be used, and then the old table stays."""
        reloaded = self._library.mla_policy_reload(self._handle) == OK
        self.lookup.cache_clear()
        return reloaded

    def set_mode(self, mode: Mode) -> None:
        """For comparisons: what plans answer from now on."""
        status = self._library.mla_policy_set_mode(self._handle, mode)
        self.lookup.cache_clear()
        if status not in (OK, ERROR_DATABASE):
            raise ValueError(f"{mode!r} is no mode" if self._handle else "no policy")

    def pin(self, knobs: Optional[str]) -> None:
        """Holds knobs of every plan: "splits=32 wait=partial"; None ends it. Raises ValueError, and nothing changes."""
        status = self._library.mla_policy_pin(self._handle, None if knobs is None else knobs.encode())
        self.lookup.cache_clear()
        if status != OK:
            raise ValueError(self.status_text().splitlines()[-1].removeprefix("warning: "))

    def fingerprint(self) -> int:
        """Equal for policies that answer every shape alike: for ranks to compare before they start."""
        return self._library.mla_policy_fingerprint(self._handle)

    def report(self, shape: Shape, time_us: float) -> None:
        """The time of one step of this shape, so that misses are weighed by their share of it."""
        if self._library.mla_policy_report(self._handle, shape, time_us) != OK:
            raise ValueError(f"{time_us} us of {shape}")

    def misses(self) -> str:
        """The shapes that no database answered, as `mla-tune db miss` reads them."""
        return self._text(self._library.mla_policy_misses)

    def counts(self) -> dict[str, int]:
        """Answers by source, and "rejected" ones."""
        counts = Counts()
        self._library.mla_policy_counts(self._handle, counts)
        return dict(zip(SOURCES, counts.by_source), rejected=counts.rejected)

    def status_text(self) -> str:
        return self._text(self._library.mla_policy_status_text)

    def _text(self, function: Any) -> str:
        size = function(self._handle, None, 0)
        while True:
            buffer = ctypes.create_string_buffer(size)
            needed = function(self._handle, buffer, size)
            if needed <= size:
                return os.fsdecode(buffer.value)  # it quotes paths, which may be any bytes
            size = needed  # it has grown in between

    def close(self) -> None:
        handle, self._handle = self._handle, ctypes.c_void_p()
        self.lookup.cache_clear()
        self._library.mla_policy_close(handle)

    def __enter__(self) -> "Policy":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
