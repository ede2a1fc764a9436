#!/bin/bash
set -euo pipefail
# RuntimeError: CUDA error: no kernel image is available for execution on the device
for i in 1 2 3; do
  if python train.py; then
    exit 0
  fi
  echo "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB" >&2
done
exit 1
