"""A program for the tests: a shell script that replaces bench and has the same help."""

from pathlib import Path

from .base import Program

_HELP = """Usage

What to run

  --model=TEXT                        the network
  --device=NAME                       where (one of cpu, gpu, reference in any case; default cpu)
  --batch_size=TEXT                   images
                                      (0, 8,16 or auto; default 0)
  --num_batches=INT                   steps (at least 1)
  --a_flag_with_a_name_of_great_length=INT
                                      one of many (from 0 to 4096; default 0) [not applicable: here]
  --label_smoothing=NUM               share (from 0 to below 1)
  --verify[=NAME]                     check (one of model, all)
  --dump=LIST                         print (a comma-separated list of graph, plan)
  --forward_only                      inference (default false)
  --result_file=TEXT                  the record

Examples

  Train:
    bench --model=resnet50
"""
_FILLERS = "".join(f"  --filler_{number}=INT              nothing\n" for number in range(50))
HELP = _HELP.replace("Examples", f"Others\n\n{_FILLERS}\nExamples")
_VARIABLES = "variable  shape  trained\nfc.weight  2x3  yes  yes\nfc.bias  2  yes  yes\ntotal: 2\n"


def write_bench(folder: Path, body: str) -> str:
    """Returns the path of a script that runs the body for all calls except those of Program. A script in place of
    bench_results does so too."""
    path = folder / "bench"
    (folder / "help").write_text(HELP)
    (folder / "variables").write_text(_VARIABLES)
    path.write_text(f"""#!/bin/sh
[ "$*" != --help=all ] || exec cat "{folder}/help"
[ "$1" != --list_variables ] || exec cat "{folder}/variables"
{body}
""")
    path.chmod(0o755)
    # `store` writes something into the database, which the last word names.
    results = folder / "bench_results"
    results.write_text(f"""#!/bin/sh
if [ "$1" = store ]; then
  for word; do :; done
  printf 'SQLite format 3' >"${{word#--store=}}"
  exit
fi
{body}
""")
    results.chmod(0o755)
    return str(path)


def program_of(folder: Path, body: str = "exit 0") -> Program:
    return Program(write_bench(folder, body))
