# SPDX-License-Identifier: MIT
"""decode() of the Python package on the CPU, with array.array, ctypes arrays, and stand-ins for tensors of others."""
import array
import ctypes
import math
import random
import struct
import sys
import unittest
import warnings

from mla_tune import DecodeError, Decoder, Policy, workspace_bytes

WIDTH, VALUES, NHEAD = 576, 512, 3
LENGTHS = (5, 0, 40)  # rows of each request
SCALE = 0.05
PAGES = (7, 3, 9, 11, 4) + tuple(range(20, 60))  # of 64; what no request reads stays NaN
BF16_NAN = 0xFFFF


def to_bf16(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def to_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def shaped(values, *shape):
    return memoryview(values).cast("B").cast(values.typecode, shape=list(shape))


class Inputs:
    """A ragged batch of one query position, page size 1."""

    def __init__(self):
        rand = random.Random(1)
        batch = len(LENGTHS)
        self.q = array.array("H", (to_bf16(rand.uniform(-1, 1)) for _ in range(batch * NHEAD * WIDTH)))
        self.kv = array.array("H", [BF16_NAN]) * (64 * WIDTH)
        for page in PAGES:
            for column in range(WIDTH):
                self.kv[page * WIDTH + column] = to_bf16(rand.uniform(-1, 1))
        self.indptr = array.array("i", [0, 5, 5, 45])
        self.indices = array.array("i", PAGES + (-1, 12345))
        self.last_page_len = array.array("i", [1, 0, 1])
        self.out = array.array("H", [BF16_NAN]) * (batch * NHEAD * VALUES)
        self.lse = array.array("f", [math.nan]) * (batch * NHEAD)

    def arguments(self):
        batch = len(LENGTHS)
        return dict(q=shaped(self.q, batch, NHEAD, WIDTH), kv=shaped(self.kv, 64, 1, WIDTH), kv_indptr=self.indptr,
                    kv_indices=self.indices, last_page_len=self.last_page_len,
                    out=shaped(self.out, batch, NHEAD, VALUES), softmax_scale=SCALE)

    def expected(self, request, head):
        """Output and LSE in double precision."""
        query = [to_float(x) for x in self.q[(request * NHEAD + head) * WIDTH:][:WIDTH]]
        rows = [[to_float(x) for x in self.kv[page * WIDTH:][:WIDTH]]
                for page in self.indices[self.indptr[request]:self.indptr[request + 1]]]
        scores = [SCALE * sum(a * b for a, b in zip(query, row)) for row in rows]
        if not scores:
            return [0.0] * VALUES, -math.inf
        total = sum(math.exp(score) for score in scores)
        weights = [math.exp(score) / total for score in scores]
        return [sum(w * row[c] for w, row in zip(weights, rows)) for c in range(VALUES)], math.log(total)


class ForeignTensor:
    """What PyTorch offers of a tensor."""

    def __init__(self, buffer, shape, dtype, strides=None):
        self._first = (ctypes.c_char * 1).from_buffer(buffer)
        self._strides = strides or tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))
        self.shape, self.dtype = shape, dtype

    def data_ptr(self):
        return ctypes.addressof(self._first)

    def stride(self):
        return self._strides


class DLManaged(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DlpackTensor:
    """A tensor on the CPU that has nothing but __dlpack__; compact, and `offset` elements into its memory."""

    def __init__(self, buffer, shape, code, bits, offset=0):
        self._first = (ctypes.c_char * 1).from_buffer(buffer)
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._managed = DLManaged(data=ctypes.addressof(self._first), device_type=1, ndim=len(shape), code=code,
                                  bits=bits, lanes=1, shape=self._shape, byte_offset=offset * bits // 8)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None):
        assert stream is None
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._managed), b"dltensor", None)


class DecodeTest(unittest.TestCase):
    def setUp(self):
        self.decoder = Decoder("cpu:threads=2")
        self.addCleanup(self.decoder.close)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.policy = Policy(**self.decoder.device, paths=[])
        self.addCleanup(self.policy.close)
        self.inputs = Inputs()

    def plan(self, splits=1):
        self.policy.pin(f"splits={splits} tile_n=16")
        return self.policy.lookup(len(LENGTHS), NHEAD, 15)

    def check(self, lse=True):
        for request in range(len(LENGTHS)):
            for head in range(NHEAD):
                row = request * NHEAD + head
                out, sums = self.inputs.expected(request, head)
                found = [to_float(x) for x in self.inputs.out[row * VALUES:][:VALUES]]
                self.assertLess(max(abs(a - b) for a, b in zip(out, found)), 0.01)
                if lse and math.isinf(sums):
                    self.assertEqual(self.inputs.lse[row], sums)
                elif lse:
                    self.assertAlmostEqual(self.inputs.lse[row], sums, places=2)

    def aligned_workspace(self, plan):
        memory = (ctypes.c_char * (plan.workspace_bytes + 64))()
        offset = -ctypes.addressof(memory) % 64
        return (ctypes.c_char * plan.workspace_bytes).from_buffer(memory, offset)

    def test_arrays_of_the_standard_library(self):
        self.decoder.decode(self.plan(), **self.inputs.arguments(), lse=self.inputs.lse)
        self.check()

    def test_splits_with_a_workspace_and_without_an_lse(self):
        plan = self.plan(splits=3)
        self.assertEqual(plan.workspace_bytes, workspace_bytes(len(LENGTHS), 1, NHEAD, 3))
        self.decoder.decode(plan, **self.inputs.arguments(), workspace=self.aligned_workspace(plan))
        self.check(lse=False)

    def test_ctypes_arrays_are_buffers_with_a_shape(self):
        batch = len(LENGTHS)
        q = (ctypes.c_uint16 * WIDTH * NHEAD * batch).from_buffer(self.inputs.q)
        indptr = (ctypes.c_int32 * (batch + 1)).from_buffer(self.inputs.indptr)
        self.decoder.decode(self.plan(), **{**self.inputs.arguments(), "q": q, "kv_indptr": indptr})
        self.check(lse=False)

    def test_anything_with_data_ptr(self):
        batch = len(LENGTHS)
        tensors = dict(q=ForeignTensor(self.inputs.q, (batch, NHEAD, WIDTH), "torch.bfloat16"),
                       kv=ForeignTensor(self.inputs.kv, (64, WIDTH), "torch.bfloat16"),
                       kv_indptr=ForeignTensor(self.inputs.indptr, (batch + 1,), "torch.int32"),
                       out=ForeignTensor(self.inputs.out, (batch, NHEAD, VALUES), "torch.bfloat16"))
        self.decoder.decode(self.plan(), **{**self.inputs.arguments(), **tensors})
        self.check(lse=False)

    def test_anything_with_dlpack_also_at_an_offset(self):
        batch = len(LENGTHS)
        padded = array.array("H", [BF16_NAN]) * 64 + self.inputs.q
        tensors = dict(q=DlpackTensor(padded, (batch, NHEAD, WIDTH), 4, 16, offset=64),
                       kv=DlpackTensor(self.inputs.kv, (64, 1, WIDTH), 4, 16),
                       last_page_len=DlpackTensor(self.inputs.last_page_len, (batch,), 0, 32))
        self.decoder.decode(self.plan(), **{**self.inputs.arguments(), **tensors})
        self.check(lse=False)

    def test_a_query_with_strides(self):
        batch = len(LENGTHS)
        spread = array.array("H", [BF16_NAN]) * (batch * NHEAD * 600)
        for row in range(batch * NHEAD):
            spread[row * 600:row * 600 + WIDTH] = self.inputs.q[row * WIDTH:(row + 1) * WIDTH]
        q = ForeignTensor(spread, (batch, NHEAD, WIDTH), "torch.bfloat16", strides=(NHEAD * 600, 600, 1))
        self.decoder.decode(self.plan(), **{**self.inputs.arguments(), "q": q})
        self.check(lse=False)

    def test_wrong_tensors_are_named_and_nothing_is_written(self):
        batch = len(LENGTHS)
        wrong = [("q", shaped(self.inputs.q, batch * NHEAD, WIDTH), ValueError, "q: has 2 dimensions"),
                 ("q", ForeignTensor(self.inputs.q, (batch, NHEAD, WIDTH), "torch.float16"), TypeError,
                  "q: holds torch.float16"),
                 ("kv", array.array("f", [0.0]), TypeError, "kv: holds f32"),
                 ("kv", 17, TypeError, "kv: has neither"),
                 ("kv_indptr", array.array("q", [0]), TypeError, "kv_indptr: holds q, not i32"),
                 ("kv_indptr", array.array("i", [0, 5, 5]), ValueError, "q: 3 tokens are no multiple of 2"),
                 ("last_page_len", array.array("i", [1]), ValueError, "last_page_len: has fewer"),
                 ("out", shaped(self.inputs.q, batch, NHEAD, WIDTH), ValueError, "out: is not"),
                 ("lse", array.array("f", [0.0]), ValueError, "lse: is not"),
                 ("softmax_scale", math.nan, ValueError, "softmax_scale: is not finite"),
                 ("stream", 4096, ValueError, "stream: a CPU has none")]
        for name, value, error, text in wrong:
            with self.subTest(name=name, text=text), self.assertRaisesRegex(error, text):
                self.decoder.decode(self.plan(), **{**self.inputs.arguments(), name: value})
        self.assertEqual(set(self.inputs.out), {BF16_NAN})

    def test_a_missing_workspace_is_an_error_that_says_so(self):
        with self.assertRaisesRegex(ValueError, "workspace: is null"):
            self.decoder.decode(self.plan(splits=3), **self.inputs.arguments())

    def test_a_device_that_is_not_there_raises(self):
        with self.assertRaisesRegex(DecodeError, "'hip:1000'"):
            Decoder("hip:1000")

    def test_a_closed_decoder_raises_and_closing_again_is_allowed(self):
        decoder = Decoder("cpu:threads=1")
        decoder.close()
        decoder.close()
        with self.assertRaises(ValueError):
            decoder.decode(self.plan(), **self.inputs.arguments())
        with self.assertRaises(DecodeError):
            self.assertIsNone(decoder.device)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
