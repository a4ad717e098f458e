"""Records with hostile names, printed in every form: no form may contain what a browser or a terminal would obey."""

import random

from ..base import Program
from ..case import Case, File
from ..formats.records import STORE, bytes_of, path_of, record

# A page must not contain this markup, whatever a record says.
_MARK = "<x9"
_NAMES = (f"{_MARK} onclick=alert(1)>", f"</script>{_MARK}>", f"'\"{_MARK}>", f"-->{_MARK}>", f"]]>{_MARK}>",
          f"\"><svg>{_MARK}>", "\u202etxt.exe", "\u2066a\u2069", "\x1b[31mred", "\x1b]0;title\x07", "a\nb", "a\rb", "a|b`c",
          "[x](javascript:alert(1))", "=HYPERLINK(\"x\")", "x" * 3000, "\u0000", "&lt;", "{{7*7}}", "%s%n", "../../x", "")
_FORMS = (["list"], ["list", "--columns=id,label,model,host"], ["report", "status:ok"], ["show"], ["track"], ["track", "--all"],
          ["track", "--format=html"], ["track", "--format=md"], ["track", "--format=junit"],
          ["compare", "--format=html"], ["compare", "--format=md"], ["compare", "--format=junit"], ["compare"])


def make(rng: random.Random, program: Program, index: int) -> Case:
    name = rng.choice(_NAMES)
    place = rng.choice(("label", "reason", "model", "hostname", "cpu", "tag", "metric unit", "revision", "warning"))
    files, ids = {}, []
    for day in range(1, 11):
        made = record(100.0 if day <= 5 else 90.0, "a" if day <= 5 else "b", day)
        content = {key: value for key, value in made.items() if key != "record_id"}
        other = {"label": {"label": name}, "reason": {"reason": name},
                 "model": {"workload": content["workload"] | {"model": name}},
                 "hostname": {"host": content["host"] | {"hostname": name}},
                 "cpu": {"cpu": {"model": name}}, "tag": {"tags": {name or "x": name}},
                 "metric unit": {"metrics": [content["metrics"][0] | {"unit": name}]},
                 "revision": {"source": {"git_rev": f"{name}{day}", "dirty": False}},
                 "warning": {"warnings": [name]}}[place]
        whole = record(100.0 if day <= 5 else 90.0, "a" if day <= 5 else "b", day, **other)
        files[path_of(whole)] = File(bytes_of(whole))
        ids.append(whole["record_id"])
    form = rng.choice(_FORMS)
    args = [*form, f"--store={STORE}/"]
    if form[0] == "compare":
        args += [ids[0], ids[-1]]
    elif form[0] == "show":
        args += [ids[0]]
    page = form[0] == "report" or form[-1].startswith("--format")
    return Case(f"{' '.join(form)}: hostile {place}", args, files, endings=frozenset({0, 1, 3}), program="bench_results",
                forbidden=("\u202e".encode(), "\u2066".encode(), *((_MARK.encode(),) if page else ())))
