"""Makes a wheel for each platform out of the programs that goreleaser built: `python cmd/wheel/release.py dist wheels`."""

import json
import os
import subprocess
import sys
from pathlib import Path


def main(dist: Path, wheels: Path) -> None:
    repository = Path(__file__).resolve().parents[2]
    built = [a for a in json.loads((dist / "artifacts.json").read_text()) if a["type"] == "Binary"]
    if not built:
        sys.exit(f"{dist}: goreleaser built no programs here")
    for artifact in built:
        program = (dist.resolve().parent / artifact["path"]).resolve()  # goreleaser names it from where it ran
        setting = {"TRIAGE_PROGRAM": str(program), "GOOS": artifact["goos"], "GOARCH": artifact["goarch"]}
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(repository / "cmd" / "wheel")]
        subprocess.run(command, env={**os.environ, **setting}, check=True)
    print(*sorted(path.name for path in wheels.glob("*.whl")), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
