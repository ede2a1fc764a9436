"""Sends the answer as an alert of Weights & Biases, to whoever gets the run's alerts, and lets the exception go on."""

from collections.abc import Iterator
from contextlib import contextmanager

import triage
import wandb


@contextmanager
def alerting() -> Iterator[None]:
    """with wandb.init(): with alerting(): train()"""
    try:
        yield
    except Exception as error:
        try:
            root = triage.diagnose(error, timeout=20).root
        except triage.TriageError:
            root = None
        if root is not None and wandb.run is not None:
            fixes = "\n".join(f"- {fix.do}" for fix in root.fixes[:2])
            wandb.run.alert(title=f"{root.certainty}: {root.title}", text=f"{root.cause}\n\n{fixes}", level=wandb.AlertLevel.ERROR)
        raise
