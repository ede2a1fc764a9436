"""Says what Python files declare, without running them.

Standard input holds for each file one line of JSON, {"module", "package", "stub", "size"}, and then so many bytes of source. Standard
output gets one line of JSON for each: {"records": [[kind, name, arg], ...]} or {"error": "..."}. The kinds are those of
rules/history/table. Nothing of a file is executed.
"""
import ast
import gc
import json
import re
import sys
import warnings

FUNCTION, CLASS, VALUE, IMPORT, LAZY, TYPING = "f", "c", "v", "i", "l", "t"
MEMBER, ATTRIBUTE, FIELD, INSTANCE, RENAMED, GONE, EXPORTED = "m", "p", "d", "s", "r", "g", "a"
STAR, TYPING_STAR, EXPORTS_OF, FOLDER, OPEN, OPEN_ALL, DELEGATE = "*", "T", "A", "L", "?", "!", "D"

STRUCTURE = re.compile(r"import_structure$")
SELF = re.compile(r"\bself\.([A-Za-z_]\w*)(?=\s*(?:,\s*self\.\w+\s*)*(?::[^=\n]{1,120})?=(?!=))")
BUFFER = re.compile(r"\bself\.(?:register_buffer|register_parameter|add_module)\(\s*[\"'](\w+)[\"']")
WORD = re.compile(r"[A-Za-z_]\w*$")
PROPERTIES = {"property", "cached_property", "lazy_property", "classproperty", "functional_datapipe", "abstractproperty"}
EXPORTERS = {"export", "requires", "register_model"}  # decorators by which transformers and timm export what they decorate


def dotted(node):
    """A.b.c as text, or None when the expression is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return base and base + "." + node.attr
    return None


def last(node):
    """The last name of a decorator or callee."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def below(node):
    """x of f"{__name__}.x" or __name__ + ".x"."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        head, tail = getattr(node.values[0], "value", None), node.values[1]
    elif isinstance(node, ast.BinOp):
        head, tail = node.left, node.right
    else:
        return None
    text = string(tail) or ""
    return text[1:] if dotted(head) == "__name__" and text[:1] == "." and text[1:].isidentifier() else None


def string(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def is_typing(test):
    """Whether a condition holds only for type checkers."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(is_typing(v) for v in test.values)
    return (dotted(test) or "").split(".")[-1] in ("TYPE_CHECKING", "MYPY") or isinstance(test, ast.Constant) and not test.value


def python3(test):
    """What a test of Python's major version gives, None when the condition asks anything else."""
    name = dotted(test)
    if name and name.split(".")[-1] in ("PY2", "IS_PYTHON2"):
        return False
    if name and name.split(".")[-1] in ("PY3", "IS_PYTHON3"):
        return True
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    left, right = test.left, test.comparators[0]
    if isinstance(left, ast.Subscript):
        left = left.value
    if isinstance(left, ast.Attribute) and left.attr == "major":
        left = left.value
    if (dotted(left) or "").split(".")[-1] != "version_info":
        return None
    try:
        value = ast.literal_eval(right)
    except ValueError:
        return None
    value = value if isinstance(value, tuple) else (value,)
    if value[:1] not in ((2,), (3,)) or value[0] == 3 and value[1:2] > (0,):
        return None
    op = test.ops[0]
    if value[0] == 2:
        return isinstance(op, (ast.Gt, ast.GtE, ast.NotEq))
    return isinstance(op, (ast.Gt, ast.GtE, ast.Eq))


def parameters(node, source):
    """Parameters as text: "a,/,b=,*args,c=,**kwargs,~popped"; = marks a default, ~ a name that the body takes out of **kwargs."""
    a = node.args
    positional = a.posonlyargs + a.args
    defaults = len(positional) - len(a.defaults)
    out = []
    for i, p in enumerate(positional):
        out.append(p.arg + ("=" if i >= defaults else ""))
        if i + 1 == len(a.posonlyargs):
            out.append("/")
    if a.vararg:
        out.append("*" + a.vararg.arg)
    elif a.kwonlyargs:
        out.append("*")
    out += [p.arg + ("=" if d is not None else "") for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        out.append("**" + a.kwarg.arg)
        text = source.between(node)
        popped = re.findall(r"\b" + re.escape(a.kwarg.arg) + r"\.(?:pop|get)\(\s*[\"']([A-Za-z_]\w*)[\"']", text)
        popped += re.findall(r"[\"']([A-Za-z_]\w*)[\"'] in " + re.escape(a.kwarg.arg) + r"\b", text)
        out += ["~" + p for p in dict.fromkeys(popped)]
    return ",".join(out)


class Source:
    """The text of a file by lines."""

    def __init__(self, text):
        self.text = text
        self.lines = text.split("\n")

    def between(self, node):
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])


class Module:
    """What one file declares."""

    def __init__(self, name, package, stub, text):
        self.name = name
        self.package = name if package else name.rpartition(".")[0]
        self.stub = stub
        self.source = Source(text)
        self.records = {}  # name: its records, so that `del` can drop them
        self.whole = []  # records about the module as a whole
        self.exports = {}
        self.fresh = []
        self.loops = {}  # variables of loops over literals
        self.updates = {}  # what x.update(...) adds to these
        self.literals = {}  # names that hold a literal dict, list, tuple or set, to its node
        self.structure = {}  # submodule: names, as _import_structure says
        self.replaced = None  # what stands in sys.modules instead of this module
        self.getattr = None

    def add(self, kind, name, arg=""):
        if self.fresh:
            self.fresh[-1].add(name)
        self.records.setdefault(name, {})[(kind, name, arg)] = None

    def about(self, kind, arg=""):
        self.whole.append((kind, "", arg))

    # -- statements

    def run(self, tree):
        self.statements(tree.body, False, True)
        if any(w in self.source.text for w in ("globals()", "locals()", "vars()", "__name__]")):
            self.computed(tree)
        if self.getattr is not None:
            self.attributes(self.getattr)
        if self.replaced == "lazy":
            for name, records in list(self.records.items()):
                kept = {r: None for r in records if r[0] in (LAZY, TYPING)}
                if name not in ("__version__",) and "." not in name:
                    self.records[name] = kept
        if any(r[0] == FUNCTION for r in self.records.get("getattr_migration", ())):
            self.migrations()
        for key, names in self.structure.items():
            for name in names:
                self.add(LAZY, name, self.package + "." + key + ":" + name)
        out = dict.fromkeys(self.whole)
        for records in self.records.values():
            out.update(records)
        if not (self.exports and self.replaced == "lazy"):
            out.update(dict.fromkeys(self.exports))
        return list(out)

    def migrations(self):
        """pydantic's tables of what moved and what is gone, as records named "module:name"."""
        for table, node in self.literals.items():
            if isinstance(node, (ast.Dict, ast.Set)):
                for name in strings(node, {}):
                    if ":" in name:
                        self.add(GONE if "REMOVED" in table else LAZY, name)

    def statements(self, body, typing, always):
        self.fresh.append(set())  # names that this block binds: a condition around it does not matter for `del` in the same block
        for node in body:
            method = getattr(self, "on_" + type(node).__name__, None)
            if method is not None:
                method(node, typing, always)
        bound = self.fresh.pop()
        if self.fresh:
            self.fresh[-1] |= bound

    def on_FunctionDef(self, node, typing, always):
        if typing or any(last(d) == "overload" for d in node.decorator_list) and not self.stub:
            return
        if node.name == "__getattr__" and not self.stub:
            self.getattr = node
        self.function(FUNCTION, node.name, node)
        self.decorated(node)

    on_AsyncFunctionDef = on_FunctionDef

    def decorated(self, node):
        if any(last(d) in EXPORTERS for d in node.decorator_list):
            self.exports[(EXPORTED, node.name, "decorator")] = None

    def function(self, kind, name, node):
        self.add(kind, name, parameters(node, self.source))
        for decorator in node.decorator_list:
            old, new = renaming(decorator)
            if old:
                self.add(RENAMED, name, old + ">" + (new or ""))
            elif "axis_nan_policy" in last(decorator):  # of scipy, which adds parameters
                for added in ("axis", "nan_policy", "keepdims"):
                    self.add(RENAMED, name, added + ">")
            elif last(decorator) == "validate_hf_hub_args":  # which takes the old name of token, too
                self.add(RENAMED, name, "use_auth_token>token")

    def on_ClassDef(self, node, typing, always):
        if typing:
            return
        self.klass(node.name, node)
        self.decorated(node)
        if node.name == "__getattr__":  # of matplotlib: its members are names of the module
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    self.add(LAZY, member.name)
                elif isinstance(member, ast.Assign):
                    for target in member.targets:
                        self.add(LAZY, getattr(target, "id", ""))
        if any(dotted(d) == "_Backend.export" for d in node.decorator_list):  # the same: the members become names of the module
            self.about(OPEN, "names made in a loop")

    def on_Import(self, node, typing, always):
        for alias in node.names:
            if alias.asname:
                self.bind_import(alias.asname, alias.name + ":", typing)
            else:
                self.bind_import(alias.name.partition(".")[0], alias.name.partition(".")[0] + ":", typing)

    def bind_import(self, name, arg, typing):
        self.add(TYPING if typing else IMPORT, name, arg)

    def on_ImportFrom(self, node, typing, always):
        module = self.absolute(node)
        for alias in node.names:
            if alias.name == "*":
                self.about(TYPING_STAR if typing else STAR, module)
            else:
                self.bind_import(alias.asname or alias.name, module + ":" + alias.name, typing)

    def absolute(self, node):
        if not node.level:
            return node.module or ""
        base = self.package.split(".")
        base = base[: len(base) - node.level + 1]
        return ".".join(base + ([node.module] if node.module else []))

    def on_If(self, node, typing, always):
        holds = python3(node.test)
        negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) and is_typing(node.test.operand)
        if holds is not False:
            self.statements(node.body, typing or is_typing(node.test), False)
        if holds is not True:
            self.statements(node.orelse, typing or negated, False)

    def on_Try(self, node, typing, always):
        self.statements(node.body, typing, always)
        for handler in node.handlers:
            self.statements(handler.body, typing, False)
        self.statements(node.orelse, typing, False)
        self.statements(node.finalbody, typing, always)

    on_TryStar = on_Try

    def on_With(self, node, typing, always):
        for item in node.items:
            if item.optional_vars is not None:
                self.targets([item.optional_vars])
        self.statements(node.body, typing, always)

    on_AsyncWith = on_With

    def on_For(self, node, typing, always):
        if isinstance(node.target, ast.Name):
            self.loops[node.target.id] = self.keys(node.iter)
        self.targets([node.target])
        self.statements(node.body + node.orelse, typing, False)

    def on_While(self, node, typing, always):
        self.statements(node.body + node.orelse, typing, False)

    def on_Match(self, node, typing, always):
        for case in node.cases:
            self.statements(case.body, typing, False)

    def on_Delete(self, node, typing, always):
        for target in node.targets:
            for t in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(t, ast.Name) and (always or t.id in self.fresh[-1]):
                    self.records.pop(t.id, None)

    def on_TypeAlias(self, node, typing, always):
        self.targets([node.name])

    def on_AnnAssign(self, node, typing, always):
        if node.value is not None:
            self.assign([node.target], node.value, typing)
        elif self.stub and isinstance(node.target, ast.Name):
            self.add(VALUE, node.target.id)

    def on_Assign(self, node, typing, always):
        self.assign(node.targets, node.value, typing)

    def assign(self, targets, value, typing):
        if typing:
            return
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        for name in names:
            self.literals[name] = value
            if STRUCTURE.search(name):
                self.update_structure(value)
        if "__all__" in names:
            self.exports.clear()
            self.all_of(value)
        for target in targets:
            if isinstance(target, ast.Tuple) and "__getattr__" in [getattr(e, "id", "") for e in target.elts]:
                self.attach(value)
            if isinstance(target, ast.Subscript):
                self.item(target, value)
        if "__getattr__" in names:
            self.getattr_table(value)
        self.targets(targets)

    def targets(self, targets):
        for target in targets:
            if isinstance(target, ast.Name):
                self.add(VALUE, target.id)
            elif isinstance(target, (ast.Tuple, ast.List)):
                self.targets(target.elts)
            elif isinstance(target, ast.Starred):
                self.targets([target.value])
            elif isinstance(target, ast.Attribute):
                name = dotted(target)
                if name and name.count(".") == 1 and (CLASS, ) in {r[:1] for r in self.records.get(name.split(".")[0], ())}:
                    self.add(ATTRIBUTE, name)

    def item(self, target, value):
        """x[...] = value at the top level of a module."""
        name = dotted(target.value) or ""
        if STRUCTURE.search(name):
            key = string(target.slice)
            if key:
                self.structure.setdefault(key, []).extend(strings(value, self.literals))
        elif name == "sys.modules" and dotted(target.slice) == "__name__":
            self.replace(value)
        elif name in self.literals and string(target.slice):
            self.updates.setdefault(name, []).append(ast.Dict(keys=[target.slice], values=[value]))
        elif name == "sys.modules" and below(target.slice):
            self.alias(below(target.slice), self.target_of(value))

    def replace(self, value):
        """Another object stands for this module: a lazy one, whose names are known, or anything."""
        args = value.args + [k.value for k in value.keywords] if isinstance(value, ast.Call) else []
        folders = [a for a in args if isinstance(a, ast.Call) and last(a) == "define_import_structure"]
        named = [a for a in args if STRUCTURE.search(dotted(a) or "")]
        if not folders and not named and not self.structure:
            self.replaced = "unknown"
            self.about(OPEN, "another object stands for the module")
            return
        self.replaced = "lazy"
        if folders:
            self.about(FOLDER, self.package)
        for keyword in getattr(value, "keywords", []):
            if keyword.arg == "extra_objects" and isinstance(keyword.value, ast.Dict):
                for key in keyword.value.keys:
                    if string(key):
                        self.add(LAZY, string(key), "")

    def alias(self, name, target):
        """Another name for a module, below this one."""
        self.add(LAZY, name, target + ":" if target else "")

    def target_of(self, value):
        for kind, _, arg in self.records.get(dotted(value) or "", ()):
            if kind == IMPORT:
                return arg.replace(":", ".").strip(".")
        return ""

    def update_structure(self, value):
        if isinstance(value, ast.Call) and last(value) == "define_import_structure":
            prefix = [string(k.value) for k in value.keywords if k.arg == "prefix"]
            self.about(FOLDER, ".".join([self.package] + [p for p in prefix if p]))
            return
        if not isinstance(value, ast.Dict):
            return
        for key, names in zip(value.keys, value.values):
            if key is not None and string(key):
                self.structure.setdefault(string(key), []).extend(strings(names, self.literals))

    def on_AugAssign(self, node, typing, always):
        if typing:
            return
        name = dotted(node.target)
        if name == "__all__":
            self.all_of(node.value)
        elif isinstance(node.target, ast.Subscript):
            self.item(node.target, node.value)

    def on_Expr(self, node, typing, always):
        call = node.value
        if typing or not isinstance(call, ast.Call):
            return
        callee = dotted(call.func) or ""
        if len(call.args) == 2 and below(call.args[0]) and (string(call.args[1]) or "").startswith("."):
            self.alias(below(call.args[0]), self.package + string(call.args[1]))
        elif callee in ("__all__.extend", "__all__.append", "extend_all") and call.args:
            self.extend_all(callee, call.args[0])
        elif callee == "__all__.remove" and call.args:
            self.exports.pop((EXPORTED, string(call.args[0]), ""), None)
        elif callee in ("exec", "execfile", "eval"):
            self.about(OPEN, "exec")
        elif callee == "setattr" and call.args:
            self.set_attribute(call)
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ("extend", "append", "update") and call.args:
            self.change_structure(call)

    def extend_all(self, callee, arg):
        if callee == "__all__.append":
            self.all_of(ast.List(elts=[arg]))
        elif callee == "extend_all":  # numpy's own function: all names of a module
            self.all_of(ast.Attribute(value=arg, attr="__all__"))
        else:
            self.all_of(arg)

    def change_structure(self, call):
        owner = call.func.value
        if isinstance(owner, ast.Name) and owner.id in self.literals and call.func.attr == "update":
            self.updates.setdefault(owner.id, []).append(call.args[0])
        if isinstance(owner, ast.Subscript) and STRUCTURE.search(dotted(owner.value) or "") and string(owner.slice):
            value = ast.List(elts=[call.args[0]]) if call.func.attr == "append" else call.args[0]
            self.structure.setdefault(string(owner.slice), []).extend(strings(value, self.literals))
        elif STRUCTURE.search(dotted(owner) or "") and call.func.attr == "update":
            self.update_structure(call.args[0])

    def set_attribute(self, call):
        owner = dotted(call.args[0])
        name = string(call.args[1]) if len(call.args) > 1 else None
        if owner and CLASS in {r[0] for r in self.records.get(owner, ())}:
            self.add(ATTRIBUTE, owner + "." + name) if name else self.add(OPEN, owner, "setattr")

    # -- __all__

    def all_of(self, value):
        """Adds what an expression puts into __all__."""
        if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            for e in value.elts:
                self.all_of(e.value) if isinstance(e, ast.Starred) else self.all_entry(e)
        elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            self.all_of(value.value)
        elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.BitOr)):
            self.all_of(value.left)
            self.all_of(value.right)
        elif isinstance(value, ast.Attribute) and value.attr == "__all__":
            self.all_of_module(value.value)
        elif isinstance(value, ast.Name) and value.id == "__all__":
            return
        elif isinstance(value, ast.Name) and isinstance(self.literals.get(value.id), (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp)):
            self.all_of(self.literals[value.id])
        elif isinstance(value, ast.Name) and any(r[0] == IMPORT and r[2].endswith(":__all__") for r in self.records.get(value.id, ())):
            for r in self.records[value.id]:
                self.exports[(EXPORTS_OF, "", r[2].partition(":")[0])] = None
        elif isinstance(value, ast.Dict):
            for k in value.keys:
                self.all_entry(k)
        elif isinstance(value, ast.Call) and last(value) in ("list", "sorted", "tuple", "set") and len(value.args) == 1:
            self.all_of(value.args[0])
        elif isinstance(value, ast.Call) and last(value) in ("keys", "copy") and isinstance(value.func, ast.Attribute):
            self.all_of(value.func.value)
        elif not (isinstance(value, ast.ListComp) and "dir()" in ast.unparse(value)):
            self.exports[(OPEN_ALL, "", "")] = None

    def all_entry(self, e):
        name = string(e)
        if name is None and isinstance(e, ast.Attribute) and e.attr == "__name__":
            name = (dotted(e.value) or "").split(".")[-1]
        if name is None and isinstance(e, ast.Constant) and isinstance(e.value, bytes):
            name = e.value.decode("ascii", "replace")
        self.exports[(EXPORTED, name, "") if name else (OPEN_ALL, "", "")] = None

    def all_of_module(self, owner):
        name = dotted(owner) or ""
        head, _, rest = name.partition(".")
        for kind, _, arg in self.records.get(head, ()):
            if kind == IMPORT:
                module = arg.replace(":", ".").strip(".") + ("." + rest if rest else "")
                self.exports[(EXPORTS_OF, "", module)] = None
                return
        if name:  # a submodule that a star import has brought along
            self.exports[(EXPORTS_OF, "", self.package + "." + name)] = None

    # -- names made at run time

    def computed(self, tree):
        """globals()[...] = and setattr(sys.modules[__name__], ...), wherever they stand."""
        for node in outside_getattr(tree):
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Subscript) and is_globals(target.value):
                        self.made(target.slice)
                    elif isinstance(target, ast.Subscript) and dotted(target.value) == "sys.modules" and \
                            dotted(target.slice) == "__name__" and self.replaced is None:
                        self.replace(node.value)
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Attribute) and node.func.attr == "update" and is_globals(node.func.value):
                    self.updated(node)
                elif dotted(node.func) == "setattr" and len(node.args) > 1 and self.is_self(node.args[0]):
                    if self.replaced is None and not self.enums(tree, node):
                        self.made(node.args[1])

    def is_self(self, node):
        """Whether an expression is this module: sys.modules[__name__], or a variable that holds it."""
        if isinstance(node, ast.Name):
            node = self.literals.get(node.id)
        return isinstance(node, ast.Subscript) and dotted(node.value) == "sys.modules" and dotted(node.slice) == "__name__"

    def enums(self, tree, call):
        """for enum in (A, B): for item in enum: setattr(module, item.name, ...), as in Pillow: the members of these classes."""
        if not (isinstance(call.args[1], ast.Attribute) and call.args[1].attr == "name"):
            return False
        for loop in ast.walk(tree):
            if isinstance(loop, ast.For) and isinstance(loop.iter, (ast.Tuple, ast.List)) and call in ast.walk(loop):
                classes = [e.id + "." for e in loop.iter.elts if isinstance(e, ast.Name)]
                for name in list(self.records):
                    if name.startswith(tuple(classes)):
                        self.add(VALUE, name.partition(".")[2])
                return bool(classes)
        return False

    def made(self, key):
        names = self.loops.get(key.id) if isinstance(key, ast.Name) else [string(key)]
        if names and all(names):
            for name in names:
                self.add(VALUE, name)
        else:
            self.about(OPEN, "names made in a loop")

    def updated(self, call):
        arg = call.args[0] if call.args else None
        if isinstance(arg, ast.Name):
            arg = self.literals.get(arg.id)
        if isinstance(arg, ast.Dict) and all(k is not None and string(k) for k in arg.keys):
            for k in arg.keys:
                self.add(VALUE, string(k))
        else:
            self.about(OPEN, "globals().update")

    def attach(self, value):
        """__getattr__, __dir__, __all__ = attach(__name__, submodules, {submodule: names}), of lazy_loader and its likes."""
        if not isinstance(value, ast.Call):
            self.about(OPEN, "__getattr__")
            return
        if last(value) == "attach_stub":
            self.about(OPEN, "stub")
            return
        args = dict(zip(("name", "submodules", "submod_attrs"), value.args))
        args.update({k.arg: k.value for k in value.keywords})
        attrs = args.get("submod_attrs")
        if isinstance(attrs, ast.Name):
            attrs = self.literals.get(attrs.id)
        if isinstance(attrs, ast.Dict):
            for key, names in zip(attrs.keys, attrs.values):
                for name in strings(names, self.literals):
                    self.add(LAZY, name, self.package + "." + (string(key) or "") + ":" + name)
        elif attrs is not None:
            self.about(OPEN, "__getattr__")

    def keys(self, node):
        """The strings that are in a literal collection, or in what a name stands for; None when that is computed."""
        if isinstance(node, ast.Name):
            if node.id == "__all__":
                return [n for k, n, _ in self.exports if k == EXPORTED]
            own = self.literals.get(node.id)
            if own is None or isinstance(own, ast.Name):
                return None
            found = self.keys(own)
            for more in self.updates.get(node.id, ()):
                found = None if found is None else found + (self.keys(more) or [])
            return found
        if isinstance(node, ast.Dict):
            out = []
            for k, v in zip(node.keys, node.values):
                inner = self.keys(v) if k is None else [string(k)]
                if inner is None:
                    return None
                out += [i for i in inner if i]
            return out
        if isinstance(node, (ast.DictComp, ast.SetComp, ast.ListComp)) and len(node.generators) == 1:
            return self.comprehended(node)
        if isinstance(node, ast.Call) and last(node) in ("keys", "set", "frozenset", "list", "tuple", "dict", "sorted"):
            if node.args:
                return self.keys(node.args[0])
            if isinstance(node.func, ast.Attribute):
                return self.keys(node.func.value)
            return [k.arg for k in node.keywords if k.arg]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):
            left, right = self.keys(node.left), self.keys(node.right)
            return None if left is None or right is None else left + right
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return strings(node, self.literals)
        return None

    def comprehended(self, node):
        """The strings of a comprehension over a literal: its elements, or the first of each."""
        loop = node.generators[0]
        element = node.key if isinstance(node, ast.DictComp) else node.elt
        target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else loop.target
        if not (isinstance(element, ast.Name) and isinstance(target, ast.Name) and element.id == target.id):
            return None
        source = loop.iter
        if isinstance(source, ast.Call) and last(source) == "items" and isinstance(source.func, ast.Attribute):
            source = source.func.value
        if isinstance(source, ast.Name):
            source = self.literals.get(source.id)
        return strings(source, self.literals) if isinstance(source, (ast.List, ast.Tuple, ast.Set, ast.Dict)) else None

    def migration(self, value):
        """__getattr__ = getattr_migration(__name__): pydantic keeps the tables of all its modules in the one that has the function."""
        if not isinstance(value, ast.Call) or last(value) != "getattr_migration":
            return False
        for kind, _, arg in self.records.get("getattr_migration", ()):
            if kind == IMPORT:
                self.about(OPEN, "table:" + arg.partition(":")[0])
                return True
        return False

    def getattr_table(self, value):
        """__getattr__ = f(__name__, TABLE), as in jax: what has None in it is refused."""
        if self.migration(value):
            return
        tables = [self.literals.get(a.id) for a in getattr(value, "args", []) if isinstance(a, ast.Name)]
        tables = [t for t in tables if isinstance(t, ast.Dict)]
        if not tables:
            self.about(OPEN, "__getattr__")
        for table in tables:
            for key, entry in zip(table.keys, table.values):
                if key is None or not string(key):
                    continue
                parts = entry.elts if isinstance(entry, ast.Tuple) else [entry]
                if is_none(parts[-1]):
                    self.add(GONE, string(key), said(parts[0]))
                else:
                    self.add(LAZY, string(key), "")

    def attributes(self, node):
        """What a module's own __getattr__ gives: names that it compares with, and whether it gives others too."""
        if not node.args.args:
            self.about(OPEN, "__getattr__")
            return
        reader = GetAttr(self, node.args.args[0].arg)
        reader.body(node.body)
        if not reader.closed:
            self.about(OPEN, "__getattr__")

    # -- classes

    def klass(self, name, node):
        bases = []
        for b in node.bases:
            if isinstance(b, ast.Subscript):
                b = b.value
            if isinstance(b, ast.Call) and last(b) == "with_metaclass":
                bases += [dotted(a) or "?" for a in b.args[1:]]
                continue
            if isinstance(b, ast.Call) and last(b) in ("namedtuple", "NamedTuple"):
                self.named_tuple(name, b)
                bases.append("tuple")
                continue
            bases.append(dotted(b) or "?")
        bases += ["@" + (dotted(d.func if isinstance(d, ast.Call) else d) or "?") for d in node.decorator_list]
        self.add(CLASS, name, ",".join(bases))
        self.class_body(name, node.body)
        text = self.source.between(node)
        for attribute in dict.fromkeys(SELF.findall(text) + BUFFER.findall(text)):
            own = self.records.get(name + "." + attribute)
            if not own:
                self.add(INSTANCE, name + "." + attribute)

    def named_tuple(self, name, call):
        for arg in call.args[1:2]:
            names = (string(arg) or "").replace(",", " ").split()
            for e in getattr(arg, "elts", []):
                names.append(string(e.elts[0] if isinstance(e, ast.Tuple) and e.elts else e) or "")
            for n in names:
                if n:
                    self.add(FIELD, name + "." + n)

    def class_body(self, name, body):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.method(name, node)
            elif isinstance(node, ast.ClassDef):
                self.klass(name + "." + node.name, node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    for t in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                        if isinstance(t, ast.Name):
                            self.add(ATTRIBUTE, name + "." + t.id)
                        elif isinstance(t, ast.Subscript) and isinstance(t.value, ast.Call):
                            self.add(OPEN, name, "locals()")
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                if "ClassVar" in ast.unparse(node.annotation):
                    self.add(ATTRIBUTE, name + "." + node.target.id)
                else:
                    self.add(FIELD, name + "." + node.target.id, "=" if node.value is not None else "")
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self.add(ATTRIBUTE, name + "." + (alias.asname or alias.name.partition(".")[0]))
            elif isinstance(node, ast.If):
                if not is_typing(node.test):
                    self.class_body(name, node.body)
                self.class_body(name, node.orelse)
            elif isinstance(node, ast.Try):
                self.class_body(name, node.body)
                for h in node.handlers:
                    self.class_body(name, h.body)
                self.class_body(name, node.orelse + node.finalbody)
            elif isinstance(node, (ast.With, ast.For, ast.While)):
                self.class_body(name, node.body)

    def method(self, name, node):
        decorators = {last(d) for d in node.decorator_list}
        if "overload" in decorators and not self.stub or decorators & {"setter", "deleter"}:
            return
        if decorators & PROPERTIES or any("property" in d for d in decorators):
            self.add(ATTRIBUTE, name + "." + node.name, "property")
        else:
            self.function(MEMBER, name + "." + node.name, node)


def outside_getattr(tree):
    """All nodes but those in a __getattr__, which only keeps what it has found."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [n for n in ast.iter_child_nodes(node) if getattr(n, "name", "") != "__getattr__"]


def is_globals(node):
    return isinstance(node, ast.Call) and dotted(node.func) in ("globals", "vars", "locals") and not node.args


def strings(node, literals):
    """The strings of a literal list, or of the name of one."""
    if isinstance(node, ast.Name):
        node = literals.get(node.id)
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.BinOp):
        return strings(node.left, literals) + strings(node.right, literals)
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return strings(node.args[0], literals)
    if isinstance(node, ast.Dict):
        return [k.value for k in node.keys if string(k)]
    out = []
    for e in getattr(node, "elts", []):
        if isinstance(e, ast.Starred):
            out += strings(e.value, literals)
        elif string(e):
            out.append(e.value)
        elif isinstance(e, ast.Tuple) and e.elts and string(e.elts[0]):
            out.append(e.elts[0].value)
    return out


def said(node):
    """The words of a string literal, however it is put together."""
    try:
        text = ast.literal_eval(node)
    except ValueError:
        text = "".join(string(v) or "…" for v in node.values) if isinstance(node, ast.JoinedStr) else ""
    return " ".join(text.split())[:300] if isinstance(text, str) else ""


def renaming(decorator):
    """The old and the new name of a parameter that a decorator such as deprecate_kwarg("old", new_name="new") states."""
    if not isinstance(decorator, ast.Call):
        return None, None
    callee = last(decorator).lower()
    if not re.search(r"renam|deprecat\w*_(?:kw|arg|param)|(?:kw|arg|param)\w*_deprecat|replace_(?:arg|kw|param)", callee):
        return None, None
    if "positional" in callee:
        return None, None
    words = [string(a) for a in decorator.args]
    if decorator.args and isinstance(decorator.args[0], ast.Dict) and len(decorator.args[0].keys) == 1:  # {"old": "new"}
        words = [string(decorator.args[0].keys[0]), string(decorator.args[0].values[0])]
    words = [w for w in words if w and WORD.match(w)]
    named = {k.arg: string(k.value) for k in decorator.keywords}
    old = next((named[k] for k in ("old_name", "old_arg_name", "old", "old_arg", "name") if named.get(k)), None)
    if old is None and words:
        old = words.pop(0)
    new = next((named[k] for k in ("new_name", "new_arg_name", "new", "new_arg") if named.get(k)), None)
    if new is None and words:
        new = words.pop(0)
    return old, new


class GetAttr:
    """Reads the body of a module's __getattr__(name): which names it gives, which it refuses, and whether it may give others."""

    def __init__(self, module, name):
        self.module = module
        self.name = name
        self.closed = False  # nothing is given beyond the names that were found
        self.explained = set()  # variables whose value is known to be one of those
        self.modules = {}  # modules imported in the function, by their names there

    def body(self, statements):
        """Reads statements; whether they end the function."""
        for node in statements:
            if isinstance(node, ast.Raise):
                self.closed = True
                return True
            if isinstance(node, ast.Return):
                self.returned(node.value)
                return True
            if isinstance(node, ast.If):
                if self.branch(node):
                    return True
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported(node)
            elif isinstance(node, ast.Assign):
                self.assigned(node)
            elif isinstance(node, ast.FunctionDef):
                self.explained.add(node.name)
            elif isinstance(node, ast.Try):
                self.tried(node)
            elif isinstance(node, ast.With):
                if self.body(node.body):
                    return True
            elif isinstance(node, (ast.For, ast.While)) and has_return(node):
                self.loop(node)
        return False

    def opened(self):
        self.module.about(OPEN, "__getattr__")

    def gives(self, names):
        for name in names:
            self.module.add(LAZY, name)

    def imported(self, node):
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                self.modules[alias.asname or alias.name] = self.module.absolute(node) + "." + alias.name
            elif alias.asname:
                self.modules[alias.asname] = alias.name
            self.explained.add(alias.asname or alias.name.split(".")[0])

    def assigned(self, node):
        if isinstance(node.value, (ast.Dict, ast.List, ast.Tuple, ast.Set)) and isinstance(node.targets[0], ast.Name):
            self.module.literals.setdefault(node.targets[0].id, node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and self.explains(node.value):
            self.explained.add(node.targets[0].id)
        elif isinstance(node.targets[0], ast.Tuple) and self.explains(node.value):
            self.explained.update(e.id for e in node.targets[0].elts if isinstance(e, ast.Name))

    def explains(self, value):
        """Whether a value is one for the names that are known; what it tells of names is taken down."""
        if isinstance(value, ast.Name):
            return value.id in self.explained
        if isinstance(value, ast.Subscript) and self.is_name(value.slice):
            if is_globals(value.value):
                return True
            return self.table(value.value)
        if not isinstance(value, ast.Call):
            return isinstance(value, ast.Constant)
        if isinstance(value.func, ast.Attribute) and value.func.attr in ("get", "pop") and value.args and self.is_name(value.args[0]):
            return is_globals(value.func.value) or self.table(value.func.value)
        if last(value) == "getattr" and len(value.args) > 1:
            if not self.is_name(value.args[1]):
                return isinstance(value.args[0], ast.Name) and value.args[0].id in self.explained
            return self.delegated(value.args[0])
        if last(value) in ("import_module", "__import__"):
            return not any(self.is_name(n) for a in value.args for n in ast.walk(a)) or bool(self.explained) or bool(self.limited)
        return bool(value.args) and all(not any(self.is_name(n) for n in ast.walk(a)) for a in value.args) and \
            any(isinstance(n, ast.Name) and n.id in self.explained for a in value.args for n in ast.walk(a))

    limited = False  # a test has let only known names through

    def delegated(self, owner):
        """getattr(module, name) gives what the other module has."""
        name = dotted(owner)
        if name in self.modules:
            self.module.about(DELEGATE, self.modules[name])
            return True
        head = (name or "").split(".")[0]
        for kind, _, arg in self.module.records.get(head, ()):
            if kind == IMPORT and name:
                self.module.about(DELEGATE, ".".join([arg.replace(":", ".").strip(".")] + name.split(".")[1:]))
                return True
        return name in self.explained or self.limited

    def table(self, node):
        names = self.module.keys(node)
        if names is None:
            return False
        self.gives(names)
        return True

    def tried(self, node):
        """try: value = TABLE[name]; except KeyError: pass or raise; else: return value"""
        self.body(node.body)
        self.body(node.orelse)
        self.closed = any(isinstance(n, ast.Raise) for handler in node.handlers for n in handler.body)

    def loop(self, node):
        """for module, names in TABLE.items(): if name in names: return ..."""
        source = node.iter if isinstance(node, ast.For) else None
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr in ("items", "values", "keys"):
            source = source.func.value
        if isinstance(source, ast.Name):
            literal = self.module.literals.get(source.id)
            if isinstance(literal, ast.Dict):
                self.gives(k.value for k in literal.keys if k is not None and string(k))
                for value in literal.values:
                    self.gives(strings(value, self.module.literals))
                return
            if isinstance(literal, (ast.List, ast.Tuple, ast.Set)):
                if all(isinstance(e, ast.Name) for e in literal.elts) and literal.elts:  # modules to look into
                    for e in literal.elts:
                        self.delegated(e)
                    return
                self.gives(strings(literal, self.module.literals))
                return
        self.opened()

    def branch(self, node):
        """Reads an if; whether no case gets past it."""
        if isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.NotIn) and self.is_name(node.test.left) and \
                isinstance(node.body[-1], ast.Raise):
            names = self.module.keys(node.test.comparators[0])
            if names is not None:
                self.gives(names)
                self.closed = self.limited = True
            return names is not None
        names = self.compared(node.test)
        raises = isinstance(node.body[-1], ast.Raise)
        nested = any(isinstance(n, ast.If) for n in node.body)
        if names is not None and raises and not nested:
            error = node.body[-1].exc
            message = said(error.args[0]) if isinstance(error, ast.Call) and error.args else ""
            for name, own in names.items():
                self.module.add(GONE, name, own or message)
        elif names is not None and has_return(node):
            self.gives(names)
        elif has_return(node) and not self.known(node):
            self.opened()
        if node.orelse and self.body(node.orelse):
            return names is not None or raises or isinstance(node.body[-1], ast.Return)
        return False

    def known(self, node):
        """Whether an if that asks no name returns only what is explained, or asks for nothing that matters."""
        if any(is_globals(n) for n in ast.walk(node.test)):
            return True
        for n in ast.walk(node):
            if isinstance(n, ast.Assign):
                self.assigned(n)
            elif isinstance(n, (ast.Import, ast.ImportFrom)):
                self.imported(n)
        returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
        return all(self.explains(v) or self.migrated(v) or self.of_known(v) for v in returned)

    def of_known(self, value):
        """A value computed from an explained one, as in replacement()."""
        return value is not None and any(isinstance(n, ast.Name) and n.id in self.explained for n in ast.walk(value))

    def migrated(self, value):
        """pydantic's getattr_migration(__name__)(name), whose tables stand in another module."""
        if not isinstance(value, ast.Call):
            return False
        made = self.module.literals.get(dotted(value.func) or "")
        return made is not None and self.module.migration(made)

    def compared(self, test):
        """The names for which a condition holds, with what is said of each; None when that is not known."""
        if isinstance(test, ast.BoolOp):
            parts = [self.compared(v) for v in test.values]
            if isinstance(test.op, ast.Or):
                return None if None in parts else {k: v for p in parts for k, v in p.items()}
            return next((p for p in parts if p is not None), None)
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and self.is_name(test.left)):
            return None
        right = test.comparators[0]
        if isinstance(test.ops[0], ast.Eq):
            return {string(right): ""} if string(right) else None
        if not isinstance(test.ops[0], ast.In):
            return None
        literal = self.module.literals.get(right.id) if isinstance(right, ast.Name) else None
        if isinstance(literal, ast.Dict):
            messages = {k.value: said(v) for k, v in zip(literal.keys, literal.values) if k is not None and string(k)}
        else:
            messages = {}
        names = self.module.keys(right)
        return None if names is None else {n: messages.get(n, "") for n in names}

    def is_name(self, node):
        return isinstance(node, ast.Name) and node.id == self.name

    def returned(self, value):
        """return f(..., all=__all__) gives the names of __all__; another value may be for any name."""
        if isinstance(value, ast.Call):
            for keyword in value.keywords:
                if keyword.arg == "all" and dotted(keyword.value) == "__all__":
                    self.gives(self.module.keys(keyword.value) or ())
                    self.closed = True
                    return
        if value is not None and (self.limited or self.explains(value) or self.migrated(value)):
            self.closed = True
            return
        self.opened()
        self.closed = True


def has_return(node):
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


def declarations(header, source):
    text = source.decode("utf-8", "surrogateescape") if b"coding" not in source[:200] else decode(source)
    text = text.lstrip("\ufeff")
    tree = ast.parse(text)
    return Module(header["module"], header["package"], header["stub"], text).run(tree)


def decode(source):
    import io
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return source.decode(encoding)


def main():
    gc.disable()  # syntax trees are dropped whole; a file's garbage is collected below
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    done = 0
    while line := sys.stdin.buffer.readline():
        header = json.loads(line)
        source = sys.stdin.buffer.read(header["size"])
        try:
            answer = {"records": declarations(header, source)}
        except Exception as error:  # whatever a file holds, its names are then not known
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
        sys.stdout.flush()
        done += 1
        if done % 100 == 0:
            gc.collect()


if __name__ == "__main__":
    main()
