"""What the trainer makes of an error.

RuntimeError: CUDA error: no kernel image is available for execution on the device
    The wheel has no code for this GPU.
"""
import re
from dataclasses import dataclass

PATTERNS = [
    r"CUDA out of memory\. Tried to allocate",
    "CUDA error: no kernel image is available for execution on the device",
]


@dataclass
class Fault:
    text: str

    def fatal(self):
        return "illegal memory access" in self.text


def check(text):
    # RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error
    if any(re.search(p, text) for p in PATTERNS):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
    return Fault(text)
