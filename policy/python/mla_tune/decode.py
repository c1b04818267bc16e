# SPDX-License-Identifier: MIT
"""The decode kernels: a plan, tensors and a stream in, one launch out."""
import ctypes
import functools
import threading
from typing import Any, Optional

from ._abi import ERROR_USAGE, OK, DeviceDesc, Plan, Tensors, load_library
from ._tensors import View, view_of

_POINTER = ctypes.c_void_p
_SIGNATURES = {
    "open": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(_POINTER), ctypes.c_char_p, ctypes.c_size_t]),
    "describe": (ctypes.c_int, [_POINTER, ctypes.POINTER(DeviceDesc)]),
    "workspace_bytes": (ctypes.c_int64, [ctypes.c_int32] * 4),
    "launch": (ctypes.c_int, [_POINTER, ctypes.POINTER(Tensors), ctypes.POINTER(Plan), _POINTER]),
    "message": (ctypes.c_size_t, [_POINTER, ctypes.c_char_p, ctypes.c_size_t]),
    "close": (None, [_POINTER]),
}
_HEAD_DIM, _VALUE_DIM = 576, 512
_MESSAGE_BYTES = 1024


@functools.cache
def _library() -> ctypes.CDLL:
    return load_library("mla_decode", _SIGNATURES)


class DecodeError(RuntimeError):
    """The device is not there, or refused a launch."""


def workspace_bytes(batch: int, q_len: int, nhead: int, splits: int) -> int:
    """Of one launch; monotone in every argument."""
    return _library().mla_decode_workspace_bytes(batch, q_len, nhead, splits)


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise ValueError(text)


def _stride(view: View, dimension: int, least: int) -> int:
    """A dimension of one element may have any stride, which then means nothing."""
    return view.strides[dimension] if view.shape[dimension] > 1 else max(least, view.strides[dimension])


def _kv_page_size(kv: View) -> int:
    """[rows, 576] or [pages, page_size, 576], the pages one row stride apart throughout."""
    _require(len(kv.shape) in (2, 3) and kv.shape[-1] == _HEAD_DIM and kv.strides[-1] == 1,
             f"kv: shape {kv.shape} is not [rows, {_HEAD_DIM}] or [pages, page_size, {_HEAD_DIM}]")
    if len(kv.shape) == 2:
        return 1
    page_size = kv.shape[1]
    _require(kv.shape[0] <= 1 or page_size == 1 or kv.strides[0] == page_size * kv.strides[1],
             "kv: a page does not begin one row after the end of the page before")
    return page_size


def _kv_row_stride(kv: View) -> int:
    return _stride(kv, 0 if len(kv.shape) == 2 or kv.shape[1] == 1 else 1, _HEAD_DIM)


class Decoder:
    """The kernels on one device: "cpu", "cpu:threads=N" or "hip:N". A context manager."""

    def __init__(self, device: str = "cpu") -> None:
        self._library = _library()
        self._handle = ctypes.c_void_p()
        self._lock = threading.Lock()  # launches on one handle must not overlap
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        if self._library.mla_decode_open(device.encode(), ctypes.byref(self._handle), message, len(message)) != OK:
            raise DecodeError(message.value.decode(errors="replace"))

    @property
    def device(self) -> dict[str, Any]:
        """The arguments that Policy wants to know of this device."""
        desc = DeviceDesc()
        if self._library.mla_decode_describe(self._handle, desc) != OK:
            raise DecodeError("the decoder is closed")
        return {"arch": desc.arch.decode(), "compute_units": desc.compute_units, "xcds": desc.xcds,
                "partition": desc.partition.decode(), "group_rows": desc.group_rows,
                "local_memory_bytes": desc.local_memory_bytes}

    def decode(self, plan: Plan, q: Any, kv: Any, kv_indptr: Any, kv_indices: Any, last_page_len: Any, out: Any, *,
               softmax_scale: float, lse: Optional[Any] = None, workspace: Optional[Any] = None,
               max_seq_len: int = 0, stream: Optional[int] = None) -> None:
        """One launch. Every tensor is anything with data_ptr(), __dlpack__ or Python's buffer protocol, in the memory
        of the device and kept alive by the caller until the stream is through with it.

          q [batch * q_len, nhead, 576] bf16      out [batch * q_len, nhead, 512] bf16, written
          kv [pages, page_size, 576] bf16         lse [batch * q_len, nhead] float32, written; or None
          kv_indptr [batch + 1] int32             workspace of plan.workspace_bytes bytes, on 64 of them
          kv_indices, last_page_len [batch] int32

        bf16 in a buffer is 16-bit integers of the same bits. `stream` is the address of a stream, as PyTorch's
        stream.cuda_stream; on the CPU None, and the call returns when the output is written. Raises ValueError or
        TypeError naming the argument, DecodeError where the device refuses; nothing was launched then."""
        tensors, owners = _tensors(q, kv, kv_indptr, kv_indices, last_page_len, out, lse, workspace)
        tensors.softmax_scale = softmax_scale
        tensors.max_seq_len = max_seq_len
        with self._lock:
            status = self._library.mla_decode_launch(self._handle, tensors, plan, stream)
            message = "" if status == OK else self._message()
        del owners
        if status == ERROR_USAGE:
            raise ValueError(message)
        if status != OK:
            raise DecodeError(message)

    def _message(self) -> str:
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        self._library.mla_decode_message(self._handle, message, len(message))
        return message.value.decode(errors="replace")

    def close(self) -> None:
        """After the last launch has completed."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        self._library.mla_decode_close(handle)

    def __enter__(self) -> "Decoder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _tensors(q: Any, kv: Any, kv_indptr: Any, kv_indices: Any, last_page_len: Any, out: Any, lse: Optional[Any],
             workspace: Optional[Any]) -> tuple[Tensors, list[View]]:
    """The struct of a launch and what keeps its pointers valid."""
    q_view = view_of("q", q, "bf16", 3)
    kv_view = view_of("kv", kv, "bf16")
    indices = [view_of(name, tensor, "i32", 1) for name, tensor in
               (("kv_indptr", kv_indptr), ("kv_indices", kv_indices), ("last_page_len", last_page_len))]
    out_view = view_of("out", out, "bf16", 3)
    tokens, nhead, head_dim = q_view.shape
    batch = indices[0].shape[0] - 1
    _require(head_dim == _HEAD_DIM and q_view.strides[2] == 1, f"q: rows are not {_HEAD_DIM} contiguous elements")
    _require(batch >= 1, "kv_indptr: has no request")
    _require(tokens % batch == 0, f"q: {tokens} tokens are no multiple of {batch} requests")
    _require(indices[2].shape[0] >= batch, f"last_page_len: has fewer than {batch} elements")
    _require(all(view.contiguous for view in indices), "kv_indptr, kv_indices, last_page_len: have to be contiguous")
    _require(out_view.shape == (tokens, nhead, _VALUE_DIM) and out_view.contiguous,
             f"out: is not [{tokens}, {nhead}, {_VALUE_DIM}] contiguous elements")
    tensors = Tensors(batch=batch, nhead=nhead, q_len=tokens // batch, page_size=_kv_page_size(kv_view),
                      kv_scale=1.0, q=q_view.pointer, q_token_stride=_stride(q_view, 0, _HEAD_DIM),
                      q_head_stride=_stride(q_view, 1, _HEAD_DIM), kv=kv_view.pointer, kv_row_stride=_kv_row_stride(kv_view),
                      kv_rows=kv_view.shape[0] * _kv_page_size(kv_view),
                      kv_indptr=indices[0].pointer, kv_indices=indices[1].pointer,
                      last_page_len=indices[2].pointer, out=out_view.pointer)
    views = [q_view, kv_view, *indices, out_view]
    if lse is not None:
        lse_view = view_of("lse", lse, "f32")
        _require(lse_view.elements == tokens * nhead and lse_view.contiguous,
                 f"lse: is not {tokens * nhead} contiguous elements")
        tensors.lse = lse_view.pointer
        views.append(lse_view)
    if workspace is not None:
        workspace_view = view_of("workspace", workspace)
        _require(workspace_view.contiguous, "workspace: has to be contiguous")
        tensors.workspace = workspace_view.pointer
        tensors.workspace_bytes = workspace_view.elements * {"bf16": 2, "i32": 4, "f32": 4}.get(workspace_view.kind, 1)
        views.append(workspace_view)
    return tensors, views
