"""Which of the workers of a job speaks: the first on this machine that fails. What fails after it mostly does so because of it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time

# What launchers set for their workers. Torchrun counts restarts, after each of which the job may fail anew.
_JOB = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE", "MASTER_ADDR", "MASTER_PORT")
_WORLD = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")

# A process of the same number may start a job with the same settings later.
_FORGOTTEN = 600.0  # seconds


def first() -> bool:
    """Whether this process is alone, or the first of its job on this machine that asks."""
    if not any(os.environ.get(name, "1") not in ("", "1") for name in _WORLD):
        return True
    job = "\0".join([str(getattr(os, "getuid", int)()), str(os.getppid()), *(os.environ.get(name, "") for name in _JOB)])
    mark = os.path.join(tempfile.gettempdir(), "triage-" + hashlib.sha256(job.encode()).hexdigest()[:32])
    try:
        with contextlib.suppress(FileNotFoundError):
            if time.time() - os.lstat(mark).st_mtime > _FORGOTTEN:
                os.unlink(mark)
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:  # where no mark can be left, an answer twice is better than none
        return True
    return True
