# SPDX-License-Identifier: MIT
"""The run-time lookup of mla-tune for Python, over libmla_policy.so by ctypes: nothing to compile.

    policy = Policy(arch="gfx950", compute_units=256, xcds=8, paths=["tuning.db"])
    plan = policy.plan(batch=8, nhead=12, seq_len=68000)
    plan.splits, plan.source_name, plan.reason

The library is found by MLA_POLICY_LIBRARY, beside this file, or by the system's loader.
"""
import ctypes
import os
import warnings

OK, ERROR_USAGE, ERROR_DEVICE, ERROR_DATABASE, ERROR_INTERNAL = 0, 2, 3, 4, 70
SOURCES = ("exact", "bucketed", "interpolated", "robust", "default", "disabled")
_ABI = (0, 1)  # major, minor: what the structs below describe


class _Sized(ctypes.Structure):
    """Every struct of the C ABI begins with its own size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)


class DeviceDesc(_Sized):
    _fields_ = [("struct_size", ctypes.c_uint32), ("compute_units", ctypes.c_int32),
                ("xcds", ctypes.c_int32), ("group_rows", ctypes.c_int32),
                ("local_memory_bytes", ctypes.c_int64), ("arch", ctypes.c_char_p),
                ("partition", ctypes.c_char_p)]


class Shape(_Sized):
    _fields_ = [("struct_size", ctypes.c_uint32), ("batch", ctypes.c_int32),
                ("seq_len", ctypes.c_int64), ("shared_prefix", ctypes.c_int64),
                ("share_group", ctypes.c_int32), ("nhead", ctypes.c_int32),
                ("q_len", ctypes.c_int32), ("kv_dtype", ctypes.c_int32),
                ("page_size", ctypes.c_int32), ("imbalance", ctypes.c_int32),
                ("large_pool", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class _RawPlan(_Sized):
    _fields_ = ([("struct_size", ctypes.c_uint32)] +
                [(name, ctypes.c_int32) for name in
                 ("splits", "tile_n", "stages", "wait", "order", "stage1_warps", "stage2_tiles",
                  "stage2_warps", "source", "database")] +
                [("gain", ctypes.c_float), ("expected_us", ctypes.c_float),
                 ("schedule", ctypes.c_int32), ("_source_name", ctypes.c_char_p),
                 ("_reason", ctypes.c_char_p), ("workspace_bytes", ctypes.c_int64),
                 ("winner_id", ctypes.c_int64)])


class Plan(_RawPlan):
    """The answer for one shape; the fields are those of mla_plan in mla_policy.h."""

    @property
    def source_name(self):
        return self._source_name.decode()

    @property
    def reason(self):
        return self._reason.decode()


class _Counts(_Sized):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("by_source", ctypes.c_uint64 * len(SOURCES)), ("rejected", ctypes.c_uint64)]


def _load_library():
    soname = "libmla_policy.so.%d.%d" % _ABI
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), soname)
    path = os.environ.get("MLA_POLICY_LIBRARY")
    if not path:
        path = beside if os.path.exists(beside) else soname
    library = ctypes.CDLL(path)
    pointer = ctypes.c_void_p
    signatures = {
        "version": (ctypes.c_uint32, []),
        "open": (ctypes.c_int, [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t,
                                ctypes.POINTER(DeviceDesc), ctypes.POINTER(pointer)]),
        "plan": (ctypes.c_int, [pointer, ctypes.POINTER(Shape), ctypes.POINTER(Plan)]),
        "workspace_bound": (ctypes.c_int, [pointer, ctypes.POINTER(Shape),
                                           ctypes.POINTER(ctypes.c_int64)]),
        "reload": (ctypes.c_int, [pointer]),
        "close": (None, [pointer]),
        "status_text": (ctypes.c_size_t, [pointer, ctypes.c_char_p, ctypes.c_size_t]),
        "counts": (ctypes.c_int, [pointer, ctypes.POINTER(_Counts)]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, "mla_policy_" + name)
        function.restype, function.argtypes = result, arguments
    version = library.mla_policy_version()
    if (version // 10000, version // 100 % 100) != _ABI:
        raise ImportError(f"{path}: version {version} is not that of this module")
    return library


def make_shape(batch, nhead, seq_len=0, q_len=1, kv_dtype=0, page_size=1, shared_prefix=0,
               share_group=8, imbalance=1, large_pool=False):
    """seq_len 0 means unknown. Build a shape once and reuse it where a step's cost matters."""
    return Shape(batch=batch, nhead=nhead, seq_len=seq_len, q_len=q_len, kv_dtype=kv_dtype,
                 page_size=page_size, shared_prefix=shared_prefix, share_group=share_group,
                 imbalance=imbalance, large_pool=int(large_pool))


class Policy:
    """A policy for one device. Safe to use from any thread; a context manager."""

    def __init__(self, arch, compute_units, xcds=1, partition="", group_rows=16,
                 local_memory_bytes=0, paths=None):
        """`paths`: database files, a later one's rows win; None takes MLA_TUNE_DB. A file that cannot be
        used is a RuntimeWarning and its shapes get the default policy."""
        self._library = _load_library()
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

    def plan(self, shape=None, **fields):
        """Of make_shape(), or of its arguments. Raises ValueError for a shape out of range."""
        shape = shape if shape is not None else make_shape(**fields)
        plan = Plan()
        if self._library.mla_policy_plan(self._handle, shape, plan) != OK:
            raise ValueError(plan.reason)
        return plan

    def workspace_bound(self, **fields):
        """Bytes that suffice for every plan with at most this batch, nhead and q_len."""
        size = ctypes.c_int64()
        status = self._library.mla_policy_workspace_bound(self._handle, make_shape(**fields), size)
        if status != OK:
            raise ValueError("shape out of range" if self._handle else "no policy")
        return size.value

    def reload(self):
        """Reads the files again; False where one cannot be used, and then the old table stays."""
        return self._library.mla_policy_reload(self._handle) == OK

    def counts(self):
        counts = _Counts()
        self._library.mla_policy_counts(self._handle, counts)
        return dict(zip(SOURCES, counts.by_source), rejected=counts.rejected)

    def status_text(self):
        size = self._library.mla_policy_status_text(self._handle, None, 0)
        buffer = ctypes.create_string_buffer(size)
        self._library.mla_policy_status_text(self._handle, buffer, size)
        return os.fsdecode(buffer.value)  # it quotes paths, which may be any bytes

    def close(self):
        self._library.mla_policy_close(self._handle)
        self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
