"""Compares the tables of rules/history with what really can be imported.

    python3 cmd/history/judge.py TRIAGE FOLDER [DISTRIBUTION]...

TRIAGE is the built program; FOLDER takes the throw-away installations. For each pair of releases below, both are installed and every
module is imported. The names that are asked for are all that either release has in a module, and all that its source mentions there:
definitions, imports, strings in __all__. So names that came, names that went and names that never were are among them. Parameters are
compared with inspect.signature. Needs pip and a network; it is no part of the tests.
"""
import json
import os
import subprocess
import sys

# Distribution, what is imported, two releases, and what they need beside what they ask for themselves.
PAIRS = [
    ("numpy", "numpy", "1.23.5", "2.0.2", []),
    ("huggingface_hub", "huggingface_hub", "0.25.2", "1.0.1", []),
    ("transformers", "transformers", "4.30.2", "4.57.1", ["numpy<2", "pillow"]),
    ("pandas", "pandas", "1.5.3", "2.2.3", ["numpy<2"]),
    ("scipy", "scipy", "1.10.1", "1.14.1", ["numpy<2"]),
    ("scikit-learn", "sklearn", "1.2.2", "1.5.2", ["numpy<2", "scipy<1.12"]),
    ("pydantic", "pydantic", "1.10.24", "2.9.2", []),
    ("pillow", "PIL", "9.5.0", "11.0.0", []),
    ("datasets", "datasets", "2.14.7", "4.0.0", ["numpy<2", "pyarrow<20", "fsspec<=2025.3.0"]),
    ("jax", "jax", "0.4.20", "0.6.0", ["numpy<2", "scipy<1.12"]),
    ("optax", "optax", "0.1.7", "0.2.4", ["numpy<2", "jax==0.4.30", "jaxlib==0.4.30", "scipy<1.12"]),
    ("gymnasium", "gymnasium", "0.28.1", "1.0.0", ["numpy<2"]),
    ("matplotlib", "matplotlib", "3.6.3", "3.9.2", ["numpy<2"]),
    ("setuptools", "setuptools", "65.7.0", "80.9.0", []),
    ("omegaconf", "omegaconf", "2.0.6", "2.3.0", []),
    ("packaging", "packaging", "21.3", "24.2", []),
    ("httpx", "httpx", "0.23.3", "0.28.1", []),
    ("imageio", "imageio", "2.9.0", "2.37.0", ["numpy<2"]),
    ("moviepy", "moviepy", "1.0.3", "2.1.2", ["numpy<2"]),
    ("albumentations", "albumentations", "1.3.1", "2.0.8", ["numpy<2"]),
    ("optuna", "optuna", "2.10.1", "4.1.0", ["numpy<2"]),
]

INSPECT = r'''
import ast, importlib, inspect, json, os, pkgutil, sys, warnings
warnings.simplefilter("ignore")
root, universe = sys.argv[1], json.load(open(sys.argv[2]))
skipped = {"tests", "_vendor", "conftest", "__main__", "test"}
package = importlib.import_module(root)
names = [root]
def walk(path, prefix):
    for m in pkgutil.iter_modules(path, prefix):
        if m.name.rsplit(".", 1)[-1] in skipped:
            continue
        names.append(m.name)
        if m.ispkg:
            walk([os.path.join(p, m.name.rsplit(".", 1)[-1]) for p in path], m.name + ".")
walk(package.__path__, root + ".")
names = names[:1] + [n for i, n in enumerate(names[1:]) if len(names) < 900 or i % (len(names) // 600) == 0]
modules = {}
for name in names:
    try:
        importlib.import_module(name)
        modules[name] = sys.modules[name]
    except BaseException:
        pass
def mentioned(module):
    try:
        tree = ast.parse(open(module.__file__, encoding="utf-8").read())
    except Exception:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
def parameters(value):
    try:
        found = inspect.signature(value).parameters.values()
    except Exception:
        return None
    if any(p.kind == p.VAR_KEYWORD for p in found):
        return None
    return [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
out = {}
for name, module in modules.items():
    if universe is None:
        words = set(dir(module)) | set(mentioned(module))
    else:
        words = universe.get(name, ())
    own = {}
    for word in words:
        if word.startswith("__") or not word.isidentifier():
            continue
        if word.startswith("_") and type(module) is not type(sys) and word in vars(module):
            continue  # what a lazy module keeps for itself
        try:
            value = getattr(module, word)
            there = True
        except BaseException:
            there = False
        own[word] = {"there": there}
        if there and (inspect.isfunction(value) or inspect.isclass(value)) and (getattr(value, "__module__", "") or "").startswith(root):
            own[word]["parameters"] = parameters(value)
    out[name] = own
json.dump(out, open(sys.argv[3], "w"))
'''


def install(python, folder, dist, version, extra):
    target = os.path.join(folder, f"{dist}-{version}")
    if not os.path.isdir(target):
        subprocess.run([python, "-m", "pip", "install", "-q", "--target", target, f"{dist}=={version}"] + extra, check=True)
    return target


def inspect(python, folder, target, root, universe=None):
    program = os.path.join(folder, "inspect_names.py")
    with open(program, "w") as f:
        f.write(INSPECT)
    out = target + ".names.json"
    asked = target + ".asked.json"
    with open(asked, "w") as f:
        json.dump(universe, f)
    env = dict(os.environ, PYTHONPATH=target, PYTHONWARNINGS="ignore", MPLBACKEND="agg", JAX_PLATFORMS="cpu")
    subprocess.run([python, program, root, asked, out], env=env, cwd=target, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=3600)
    with open(out) as f:
        return json.load(f)


def questions(both, releases):
    """Names, and parameters that either release has, with the truth of each release."""
    for version, modules in zip(releases, both):
        for module, names in modules.items():
            other = both[0 if modules is both[1] else 1].get(module)
            if other is None:
                continue
            for word, fact in names.items():
                yield f"{module}.{word}", version, fact["there"], "name"
                mine = fact.get("parameters")
                theirs = other.get(word, {}).get("parameters")
                if mine is None or theirs is None:
                    continue
                for p in sorted(set(mine) | set(theirs)):
                    yield f"{module}.{word}({p}=)", version, p in mine, "parameter"


def judge(triage, python, folder, dist, root, releases, extra):
    targets = [install(python, folder, dist, v, extra) for v in releases]
    seen = [inspect(python, folder, t, root) for t in targets]
    universe = {m: sorted(set(seen[0].get(m, ())) | set(seen[1].get(m, ()))) for m in set(seen[0]) | set(seen[1])}
    both = [inspect(python, folder, t, root, universe) for t in targets]
    asked = list(questions(both, releases))
    lines = "".join(json.dumps({"name": n, "version": v}) + "\n" for n, v, _, _ in asked)
    answers = subprocess.run([triage, "history", "--batch"], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {}
    with open(os.path.join(folder, dist + ".wrong.txt"), "w") as wrong:
        for (name, version, truth, kind), answer in zip(asked, answers, strict=True):
            said = json.loads(answer)["present"]
            key = (kind, truth, said)
            counts[key] = counts.get(key, 0) + 1
            if said is not truth:
                print(name, version, "is" if truth else "is not", "there, said", said, file=wrong)
    return counts


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "–"


def row(counts, kind):
    c = lambda truth, said: counts.get((kind, truth, said), 0)
    total = sum(n for (k, _, _), n in counts.items() if k == kind)
    nulls = c(True, None) + c(False, None)
    return (total, share(c(True, True), c(True, True) + c(False, True)), share(c(True, True), c(True, True) + c(True, False)),
            share(c(False, False), c(False, False) + c(True, False)), share(nulls, total))


def main():
    triage, folder, *chosen = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    print("| package | releases | what | asked | precision | recall | absent and so | not known |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for dist, root, old, new, extra in PAIRS:
        if chosen and dist not in chosen:
            continue
        try:
            counts = judge(triage, sys.executable, folder, dist, root, (old, new), extra)
        except subprocess.CalledProcessError as error:
            print(f"{dist}: {error}", file=sys.stderr)
            continue
        for kind in ("name", "parameter"):
            print("|", " | ".join(map(str, (dist, f"{old}, {new}", kind + "s") + row(counts, kind))), "|", flush=True)


if __name__ == "__main__":
    main()
