"""Puts the program into the wheel, as the script `triage`.

Without settings it is built from its sources, for this machine, which needs Go. Of a program that is built already, as by goreleaser,
TRIAGE_PROGRAM is the path, and GOOS and GOARCH say for what it is. TRIAGE_LICENCES is a folder with the licences of what is linked
into it, as .ci/licences makes it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "program" if (HERE / "program").is_dir() else HERE.parents[1]  # in a source distribution, else in the repository

# What pip calls each platform. The program for Linux is static, so that the version of the C library does not matter; macOS 12 is the
# oldest that Go 1.26 supports, https://go.dev/wiki/MinimumRequirements.
PLATFORMS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}


class BuildProgram(BuildHookInterface[Any]):
    """Hatch calls it before it writes a wheel."""

    folder: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        system, machine = go("env", "GOOS"), go("env", "GOARCH")
        if (system, machine) not in PLATFORMS:
            raise SystemExit(f"gpu-triage: there are no wheels for {system}/{machine}")
        program = os.environ.get("TRIAGE_PROGRAM") or self.build()
        name = "triage.exe" if system == "windows" else "triage"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{PLATFORMS[system, machine]}"
        build_data["shared_scripts"][str(Path(program).resolve())] = name
        build_data["force_include"][str(SOURCES / "LICENSE")] = "triage/LICENSE"
        licences = os.environ.get("TRIAGE_LICENCES")
        if licences:
            build_data["force_include"][str(Path(licences).resolve())] = "triage/licences"

    def build(self) -> str:
        self.folder = tempfile.mkdtemp()
        program = os.path.join(self.folder, "triage")
        environment = {**os.environ, "CGO_ENABLED": "0"}
        command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/triage"]
        subprocess.run(command, cwd=SOURCES, env=environment, check=True)
        return program

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def go(*arguments: str) -> str:
    """What go says. A wheel of a program that is built already needs no Go when GOOS and GOARCH are set."""
    if arguments[0] == "env" and os.environ.get(arguments[1]):
        return os.environ[arguments[1]]
    try:
        return subprocess.run(["go", *arguments], capture_output=True, text=True, check=True).stdout.strip()
    except FileNotFoundError:
        raise SystemExit("gpu-triage: building the program needs Go 1.26, https://go.dev/dl; wheels have it built in") from None
