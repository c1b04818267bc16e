# SPDX-License-Identifier: MIT
"""Where the elements of somebody's tensor lie, without importing what made it: objects with data_ptr() (PyTorch), with
__dlpack__ (JAX, CuPy, NumPy), or with Python's buffer protocol (array.array, ctypes arrays, memoryview)."""
import ctypes
from typing import Any, NamedTuple, Optional


class View(NamedTuple):
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    kind: str                 # "bf16", "i32", "f32", or what else it holds, for messages
    owner: Any                # keeps the elements alive

    @property
    def elements(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def contiguous(self) -> bool:
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True


# Python has no bf16 elements of its own: 16-bit integers hold their bits.
_BUFFER_KINDS = {"H": "bf16", "h": "bf16", "i": "i32", "l": "i32", "f": "f32", "B": "bytes", "b": "bytes", "c": "bytes"}
_TORCH_KINDS = {"torch.bfloat16": "bf16", "torch.int32": "i32", "torch.float32": "f32", "torch.uint8": "bytes"}
_DLPACK_KINDS = {(4, 16): "bf16", (0, 32): "i32", (2, 32): "f32", (1, 8): "bytes"}  # (type code, bits)
_DLPACK_CPU = 1


class _DLTensor(ctypes.Structure):
    """dlpack.h of DLPack 0.x and 1.0: the layout behind a capsule named "dltensor"."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _compact_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def _from_torch(tensor: Any) -> View:
    kind = _TORCH_KINDS.get(str(tensor.dtype), str(tensor.dtype))
    return View(tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), kind, tensor)


def _from_dlpack(tensor: Any) -> View:
    on_cpu = tensor.__dlpack_device__()[0] == _DLPACK_CPU
    # -1: the producer shall not wait; the launch goes to the caller's own stream.
    capsule = tensor.__dlpack__() if on_cpu else tensor.__dlpack__(stream=-1)
    described = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    shape = tuple(described.shape[:described.ndim])
    strides = tuple(described.strides[:described.ndim]) if described.strides else _compact_strides(shape)
    kind = _DLPACK_KINDS.get((described.code, described.bits), f"type {described.code} of {described.bits} bits")
    # The capsule is looked at and not consumed: when it goes, it frees what it was made of.
    return View((described.data or 0) + described.byte_offset, shape, strides, kind, (tensor, capsule))


def _from_buffer(tensor: Any) -> View:
    view = memoryview(tensor)
    if view.readonly or not view.c_contiguous:
        raise ValueError("a buffer has to be writable and contiguous; use data_ptr() or __dlpack__ for others")
    kind = _BUFFER_KINDS.get(view.format.lstrip("<=@"), view.format)
    if kind == "i32" and view.itemsize != 4:
        kind = view.format
    first = (ctypes.c_char * view.nbytes).from_buffer(view) if view.nbytes else None
    pointer = ctypes.addressof(first) if first is not None else 0
    return View(pointer, tuple(view.shape), _compact_strides(view.shape), kind, first)


def view_of(name: str, tensor: Any, kind: Optional[str] = None, dimensions: Optional[int] = None) -> View:
    """Raises TypeError or ValueError that begins with `name`."""
    try:
        if hasattr(tensor, "data_ptr"):
            view = _from_torch(tensor)
        elif hasattr(tensor, "__dlpack__"):
            view = _from_dlpack(tensor)
        else:
            view = _from_buffer(tensor)
    except TypeError as error:
        raise TypeError(f"{name}: has neither data_ptr() nor __dlpack__ nor a buffer: {error}") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if kind is not None and view.kind != kind:
        raise TypeError(f"{name}: holds {view.kind}, not {kind}")
    if dimensions is not None and len(view.shape) != dimensions:
        raise ValueError(f"{name}: has {len(view.shape)} dimensions, not {dimensions}")
    return view
