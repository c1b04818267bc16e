# SPDX-License-Identifier: MIT
"""The structs of the C headers, and where the shared libraries are found."""
import ctypes
import os
import pathlib
import sysconfig
from typing import Any, Mapping, Sequence

ABI = (0, 1)  # major, minor: what the structs below describe

OK, ERROR_USAGE, ERROR_DEVICE, ERROR_DATABASE, ERROR_INTERNAL = 0, 2, 3, 4, 70
SOURCES = ("exact", "bucketed", "interpolated", "robust", "default", "disabled")

# Result type and argument types of one C function.
Signature = tuple[Any, Sequence[Any]]


class Sized(ctypes.Structure):
    """Every struct of the C ABI begins with its own size."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)


class DeviceDesc(Sized):
    _fields_ = [("struct_size", ctypes.c_uint32), ("compute_units", ctypes.c_int32),
                ("xcds", ctypes.c_int32), ("group_rows", ctypes.c_int32),
                ("local_memory_bytes", ctypes.c_int64), ("arch", ctypes.c_char_p),
                ("partition", ctypes.c_char_p)]


class Shape(Sized):
    """A problem to look up: mla_shape of mla_policy.h. Made by make_shape()."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("batch", ctypes.c_int32),
                ("seq_len", ctypes.c_int64), ("shared_prefix", ctypes.c_int64),
                ("share_group", ctypes.c_int32), ("nhead", ctypes.c_int32),
                ("q_len", ctypes.c_int32), ("kv_dtype", ctypes.c_int32),
                ("page_size", ctypes.c_int32), ("imbalance", ctypes.c_int32),
                ("large_pool", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class Plan(ctypes.Structure):
    """The answer for one shape, read-only; the fields are those of mla_plan in mla_abi.h."""

    _fields_ = ([("struct_size", ctypes.c_uint32)] +
                [(name, ctypes.c_int32) for name in
                 ("splits", "tile_n", "stages", "wait", "order", "stage1_warps", "stage2_tiles",
                  "stage2_warps", "source", "database")] +
                [("gain", ctypes.c_float), ("expected_us", ctypes.c_float),
                 ("schedule", ctypes.c_int32), ("_source_name", ctypes.c_char_p),
                 ("_reason", ctypes.c_char_p), ("workspace_bytes", ctypes.c_int64),
                 ("winner_id", ctypes.c_int64), ("group_rows", ctypes.c_int32),
                 ("_reserved", ctypes.c_int32)])

    @classmethod
    def empty(cls) -> "Plan":
        plan = cls()
        ctypes.c_uint32.from_buffer(plan).value = ctypes.sizeof(cls)
        return plan

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a plan is read-only: it may be shared by many callers")

    @property
    def source_name(self) -> str:
        return self._source_name.decode()

    @property
    def reason(self) -> str:
        return self._reason.decode()


class Counts(Sized):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("by_source", ctypes.c_uint64 * len(SOURCES)), ("rejected", ctypes.c_uint64)]


class Tensors(Sized):
    _fields_ = ([("struct_size", ctypes.c_uint32)] +
                [(name, ctypes.c_int32) for name in ("batch", "nhead", "q_len", "page_size", "kv_dtype")] +
                [("softmax_scale", ctypes.c_float), ("kv_scale", ctypes.c_float),
                 ("max_seq_len", ctypes.c_int64), ("q", ctypes.c_void_p),
                 ("q_token_stride", ctypes.c_int64), ("q_head_stride", ctypes.c_int64),
                 ("kv", ctypes.c_void_p), ("kv_row_stride", ctypes.c_int64),
                 ("kv_indptr", ctypes.c_void_p), ("kv_indices", ctypes.c_void_p),
                 ("last_page_len", ctypes.c_void_p), ("out", ctypes.c_void_p),
                 ("lse", ctypes.c_void_p), ("workspace", ctypes.c_void_p),
                 ("workspace_bytes", ctypes.c_int64), ("kv_rows", ctypes.c_int64)])


def _library_path(name: str) -> str:
    """$MLA_POLICY_LIBRARY or $MLA_DECODE_LIBRARY, else the installed tree that this package lies in, else the name
    that the system's loader searches for."""
    given = os.environ.get(name.upper() + "_LIBRARY")
    if given:
        return given
    soname = "lib%s.so.%d.%d" % (name, *ABI)
    prefix = pathlib.Path(__file__).resolve().parents[4]  # PREFIX/share/mla-tune/python/mla_tune/_abi.py
    for folder in ("lib", "lib64", "lib/" + (sysconfig.get_config_var("MULTIARCH") or "")):
        path = prefix / folder / soname
        if path.exists():
            return str(path)
    return soname


def load_library(name: str, signatures: Mapping[str, Signature]) -> ctypes.CDLL:
    """The library "mla_policy" or "mla_decode" with its functions declared. Raises OSError where it is not found and
    ImportError where its version is not the one that the structs describe."""
    path = _library_path(name)
    library = ctypes.CDLL(path)
    for function_name, (result, arguments) in {"version": (ctypes.c_uint32, []), **signatures}.items():
        function = getattr(library, f"{name}_{function_name}")
        function.restype, function.argtypes = result, arguments
    version = getattr(library, f"{name}_version")()
    if (version // 10000, version // 100 % 100) != ABI:
        raise ImportError(f"{path}: version {version} is not that of this package")
    return library
