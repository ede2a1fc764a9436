"""Makes real failures, one a run, so that their logs can be made again with other versions.

    python failures.py NAME            fails as the log of that name in testdata/logs does
    python failures.py NAME --fixed    the same with the fix that triage proposes; ends well
    python failures.py --list

Those that begin with "ddp_" want `torchrun --nproc-per-node 2 failures.py NAME`.
"""
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

CASES = {}
FIXED = "--fixed" in sys.argv


def case(f):
    CASES[f.__name__] = f
    return f


def steps(n=3):
    """A little of what a training job prints."""
    for i in range(n):
        print(f"step {i} loss {2.5 - 0.1 * i:.4f} lr 3.0e-04 grad_norm {1.2 - 0.05 * i:.3f}", flush=True)


@case
def label_out_of_range():
    logits = torch.randn(4, 10, device="cuda", requires_grad=True)
    labels = torch.tensor([1, 2, 9 if FIXED else 10, 3], device="cuda")
    F.cross_entropy(logits, labels).backward()
    torch.cuda.synchronize()


@case
def token_out_of_range():
    embedding = nn.Embedding(32000, 64).cuda()
    if FIXED:
        embedding = nn.Embedding(32008, 64).cuda()
    embedding(torch.tensor([[1, 5, 32005]], device="cuda")).sum().backward()
    torch.cuda.synchronize()


@case
def out_of_memory_activations():
    layers = nn.Sequential(*[nn.Linear(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(8)])
    x = torch.randn(64 if FIXED else 1_200_000, 8192, device="cuda", dtype=torch.bfloat16)
    for layer in layers:
        x = F.gelu(layer(x))
    x.sum().backward()


@case
def mixed_devices():
    layer = nn.Linear(8, 8).cuda()
    x = torch.randn(2, 8)
    layer(x.cuda() if FIXED else x)


@case
def index_on_cpu():
    table = torch.randn(10, device="cuda")
    rows = torch.tensor([1, 2])
    torch.index_select(table, 0, rows.cuda() if FIXED else rows)


@case
def half_and_float():
    layer = nn.Linear(8, 8, device="cuda", dtype=torch.float16)
    x = torch.randn(2, 8, device="cuda")
    layer(x.half() if FIXED else x)


@case
def conv_half_and_float():
    layer = nn.Conv2d(3, 8, 3, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(1, 3, 16, 16, device="cuda")
    layer(x.bfloat16() if FIXED else x)


@case
def inplace_changes_saved():
    x = torch.randn(4, requires_grad=True)
    y = x.exp()
    if FIXED:
        z = (y * 2).sum() + y.add(1).sum()
    else:
        z = (y * 2).sum()
        y.add_(1)
        z = z + y.sum()
    z.backward()


@case
def unscale_half_parameters():
    layer = nn.Linear(8, 8, device="cuda", dtype=torch.float32 if FIXED else torch.float16)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda"):
        loss = layer(torch.randn(2, 8, device="cuda")).float().sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)


@case
def sdpa_flash_with_mask():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q = torch.randn(1, 4, 128, 64, device="cuda", dtype=torch.bfloat16)
    mask = torch.zeros(128, 128, device="cuda", dtype=torch.bfloat16)
    backends = [SDPBackend.FLASH_ATTENTION] + ([SDPBackend.EFFICIENT_ATTENTION] if FIXED else [])
    with sdpa_kernel(backends):
        F.scaled_dot_product_attention(q, q, q, attn_mask=mask)


@case
def sdpa_flash_fp32():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    dtype = torch.bfloat16 if FIXED else torch.float32
    q = torch.randn(1, 4, 128, 64, device="cuda", dtype=dtype)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        F.scaled_dot_product_attention(q, q, q)


@case
def weights_only():
    class Config:
        pass
    path = "/tmp/failures-checkpoint.pt"
    import __main__
    __main__.Config = Config
    Config.__module__, Config.__qualname__ = "__main__", "Config"
    torch.save({"config": Config(), "w": torch.zeros(2)}, path)
    torch.load(path, weights_only=not FIXED)


@case
def truncated_checkpoint():
    path = "/tmp/failures-truncated.pt"
    torch.save({"w": torch.zeros(1000)}, path)
    if not FIXED:
        os.truncate(path, os.path.getsize(path) // 2)
    torch.load(path)


@case
def state_dict_prefix():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    state = {"module." + k: v for k, v in model.state_dict().items()}
    if FIXED:
        state = {k.removeprefix("module."): v for k, v in state.items()}
    model.load_state_dict(state)


@case
def collate_lengths():
    data = [torch.zeros(n) for n in (5, 7, 6, 5)]
    pad = nn.utils.rnn.pad_sequence
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=1, collate_fn=(lambda b: pad(b, batch_first=True)) if FIXED else None)
    next(iter(loader))


@case
def lambda_is_not_picklable():
    import multiprocessing
    loader = torch.utils.data.DataLoader(range(8), num_workers=1, collate_fn=sum if FIXED else (lambda b: b), multiprocessing_context=multiprocessing.get_context("spawn"))
    next(iter(loader))


@case
def compile_data_dependent():
    @torch.compile(fullgraph=True)
    def f(x):
        return torch.where(x.sum() > 0, x + 1, x - 1) if FIXED else (x + 1 if x.sum().item() > 0 else x - 1)
    f(torch.randn(8, device="cuda"))


@case
def loss_becomes_nan():
    w = torch.tensor([1.0], requires_grad=True)
    for i in range(12):
        loss = (w * (10.0 if i < 5 or FIXED else float("inf")) - w * (0.0 if i < 5 or FIXED else float("inf"))).sum()
        print(f"step {i} loss {loss.item():.4f} lr 3.0e-04", flush=True)


@case
def ddp_unused():
    ddp(lambda: TwoHeads(use_both=FIXED))


@case
def ddp_one_rank_raises():
    import torch.distributed as dist
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank())
    if dist.get_rank() == 1 and not FIXED:
        raise ValueError("sample 4711 has no label")
    dist.all_reduce(torch.ones(1, device="cuda"))
    dist.destroy_process_group()


@case
def ddp_same_gpu():
    import torch.distributed as dist
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() if FIXED else 0)
    dist.all_reduce(torch.ones(1, device="cuda"))
    dist.destroy_process_group()


@case
def ddp_group_missing():
    import torch.distributed as dist
    if FIXED:
        dist.init_process_group("gloo")
    dist.all_reduce(torch.ones(1))


class TwoHeads(nn.Module):
    def __init__(self, use_both):
        super().__init__()
        self.body, self.a, self.b, self.use_both = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1), use_both

    def forward(self, x):
        x = self.body(x)
        return self.a(x) + self.b(x) if self.use_both else self.a(x)


def ddp(make):
    import torch.distributed as dist
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(make())
    for _ in range(2):
        model(torch.randn(2, 4)).sum().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(CASES))
        sys.exit()
    steps()
    CASES[sys.argv[1]]()
    if FIXED:
        print("done", flush=True)
