"""Says which modules, names, members and parameters the standard library of the Python that runs it has.

Standard output gets {"version": "3.8", "modules": {name: [[kind, name, arg], ...]}}; the kinds are those of rules/history/table. The
modules are imported and looked at, so that those made in C are told like all others. Runs under Python 2.7 and 3.6 or newer.
"""
from __future__ import print_function

import inspect
import json
import os
import pkgutil
import sys
import sysconfig
import types
import warnings

FUNCTION, CLASS, VALUE, IMPORT, MEMBER, ATTRIBUTE, OPEN = "f", "c", "v", "i", "m", "p", "?"

# Modules that do something when they are imported, or that training code does not use.
SKIPPED = ("tkinter", "Tkinter", "turtle", "curses", "antigravity", "this", "test", "idlelib", "lib2to3", "turtledemo", "ensurepip", "pydoc_data", "encodings", "site-packages", "__phello__")
ANY = "*args,**kwargs"  # of a callable that does not tell its parameters


def modules():
    """The names of the standard library's public modules, those below packages too."""
    top = set(n for n in sys.builtin_module_names)
    folders = [sysconfig.get_path("stdlib"), os.path.join(sysconfig.get_path("stdlib"), "lib-dynload")]
    top.update(m[1] for m in pkgutil.iter_modules(folders))
    queue = sorted(n for n in top if n not in SKIPPED and not n.startswith("_") or n == "__future__")
    queue.append(builtins().__name__)
    for name in queue:
        if name == "__main__":
            continue
        yield name
        for path in getattr(load(name), "__path__", ()):
            queue.extend(name + "." + m[1] for m in pkgutil.iter_modules([path]) if m[1] not in ("tests", "test") and not m[1].startswith("_"))


def builtins():
    try:
        import builtins as module
    except ImportError:
        import __builtin__ as module
    return module


def load(name):
    """The module, or None when this machine lacks what it needs."""
    try:
        __import__(name)
        return sys.modules[name]
    except BaseException:
        return None


def parameters(function):
    """Parameters as text, as declarations.py writes them."""
    if not hasattr(inspect, "signature"):
        return old_parameters(function)
    try:
        every = inspect.signature(function).parameters.values()
    except Exception:  # whatever a text signature holds
        return ANY
    out, star = [], False
    for i, p in enumerate(every):
        if p.kind == p.KEYWORD_ONLY and not star:
            out.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        out.append(mark + p.name + ("=" if p.default is not p.empty else ""))
        following = list(every)[i + 1 : i + 2]
        if p.kind == p.POSITIONAL_ONLY and not (following and following[0].kind == p.POSITIONAL_ONLY):
            out.append("/")
    return ",".join(out)


def old_parameters(function):
    try:
        spec = inspect.getargspec(function)
    except TypeError:
        return ANY
    defaults = len(spec.args) - len(spec.defaults or ())
    out = [str(a) + ("=" if i >= defaults else "") for i, a in enumerate(spec.args)]
    out += ["*" + spec.varargs] if spec.varargs else []
    out += ["**" + spec.keywords] if spec.keywords else []
    return ",".join(out)


def class_records(name, klass):
    yield [CLASS, name, ""]
    own = vars(klass)
    constructor = next((m for m in ("__init__", "__new__") if isinstance(own.get(m), (types.FunctionType, staticmethod))), None)
    yield [MEMBER, name + ".__init__", parameters(getattr(klass, constructor)) if constructor else ANY]
    for member in dir(klass):
        if member in dir(object):
            continue
        try:
            value = getattr(klass, member)
        except Exception:
            value = None
        if inspect.isroutine(value):
            yield [MEMBER, name + "." + member, parameters(value)]
        else:
            yield [ATTRIBUTE, name + "." + member, ""]


def records(module):
    if hasattr(module, "__getattr__"):  # which gives names that dir does not tell
        yield [OPEN, "", "__getattr__"]
    for name in dir(module):
        if name.startswith("__") and module is not builtins():
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        home = getattr(value, "__module__", None)
        if isinstance(value, type):
            elsewhere = home != module.__name__ and home in sys.modules and not str(home).startswith("_") and getattr(sys.modules[home], value.__name__, None) is value
            if elsewhere:
                yield [IMPORT, name, home + ":" + value.__name__]
            else:
                for record in class_records(name, value):
                    yield record
        elif inspect.isroutine(value):
            yield [FUNCTION, name, parameters(value)]
        else:
            yield [VALUE, name, ""]


def main():
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr
    told = {}
    for name in modules():
        module = load(name)
        shown = "builtins" if name == "__builtin__" else name
        told[shown] = [[OPEN, "", "not importable here"]] if module is None else list(records(module))
    json.dump({"version": "%d.%d" % sys.version_info[:2], "modules": told}, out)


if __name__ == "__main__":
    main()
