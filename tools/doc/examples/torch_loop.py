# SPDX-License-Identifier: MIT
"""A decode loop of PyTorch over libmla_decode: one CUDA graph, captured once for a padded batch before its lengths are
known, and replayed while the sequences grow.

    torch_loop.py [DEVICE]      "hip:0" unless given; "cpu" runs the same steps without a graph

Every cached row of a request holds one value, so that attention over them has to give it back. Exit status 77 where
PyTorch, or a GPU for it, is missing."""
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

import mla_tune

BATCH, HEADS, LAYERS, STEPS, FIRST_LENGTH = 4, 12, 3, 20, 300
ROW_WIDTH, VALUE_WIDTH, MOST_ROWS = 576, 512, FIRST_LENGTH + STEPS
VALUES = (1.0, 2.0, -3.0, 0.25)  # exact in bf16


class Step:
    """The tensors of one decode step. Their addresses never change, which is what a graph needs."""

    def __init__(self, spec: str) -> None:
        self.device = torch.device("cpu" if spec.startswith("cpu") else "cuda")
        self.decoder = mla_tune.Decoder(spec)
        self.policy = mla_tune.Policy(**self.decoder.device)
        def empty(*shape: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.zeros(shape, dtype=dtype, device=self.device)
        self.q = empty(BATCH, HEADS, ROW_WIDTH, dtype=torch.bfloat16).fill_(0.5)
        self.kv = empty(BATCH, MOST_ROWS, 1, ROW_WIDTH, dtype=torch.bfloat16)
        for request, value in enumerate(VALUES):
            self.kv[request] = value
        self.kv = self.kv.view(-1, 1, ROW_WIDTH)  # pages of one row
        self.indptr = empty(BATCH + 1, dtype=torch.int32)
        self.indices = empty(BATCH * MOST_ROWS, dtype=torch.int32)
        self.last_page_len = empty(BATCH, dtype=torch.int32).fill_(1)
        self.out = empty(LAYERS, BATCH, HEADS, VALUE_WIDTH, dtype=torch.bfloat16)
        # Without a length: the plan has to suit every length that a replay may meet.
        self.plan = self.policy.plan(batch=BATCH, nhead=HEADS, seq_len=0)
        self.workspace = empty(max(64, self.plan.workspace_bytes), dtype=torch.uint8)

    def grow_to(self, length: int) -> None:
        """Page tables of `length` rows for every request, written in place."""
        rows = torch.arange(length, dtype=torch.int32)
        pages = torch.cat([rows + request * MOST_ROWS for request in range(BATCH)])
        self.indices[:len(pages)].copy_(pages)
        self.indptr.copy_(torch.arange(BATCH + 1, dtype=torch.int32) * length)

    def launch(self) -> None:
        on_gpu = self.device.type == "cuda"
        stream = torch.cuda.current_stream().cuda_stream if on_gpu else None
        for layer in range(LAYERS):  # one cache stands for those of all layers
            self.decoder.decode(self.plan, self.q, self.kv, self.indptr, self.indices, self.last_page_len,
                                self.out[layer], softmax_scale=0.0625, workspace=self.workspace,
                                max_seq_len=MOST_ROWS, stream=stream)

    def wrong_elements(self) -> int:
        expected = torch.tensor(VALUES, dtype=torch.bfloat16, device=self.device).view(1, BATCH, 1, 1)
        return int((self.out != expected).sum())


def captured(step: Step) -> torch.cuda.CUDAGraph:
    step.grow_to(FIRST_LENGTH)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step.launch()
    return graph


def main() -> int:
    spec = sys.argv[1] if len(sys.argv) > 1 else "hip:0"
    if not spec.startswith("cpu") and not torch.cuda.is_available():
        return 77
    step = Step(spec)
    run = step.launch if spec.startswith("cpu") else captured(step).replay
    wrong = 0
    for length in range(FIRST_LENGTH + 1, MOST_ROWS + 1):
        step.grow_to(length)
        step.out.zero_()
        run()
        wrong += step.wrong_elements()
    print(f"{STEPS} steps of {LAYERS} layers, plan of {step.plan.splits} splits ({step.plan.source_name}), "
          f"{wrong} elements wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
