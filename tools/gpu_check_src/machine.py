"""Finds our programs, CUDA's libraries and tools, and a Python with PyTorch on this machine."""

import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping, Sequence

_ROOT = Path(__file__).resolve().parents[2]
# Possible folders of the toolkit.
_TOOLKITS = ("/usr/local/cuda*/lib64", "/usr/local/cuda*/lib", "/usr/local/cuda*/targets/*/lib", "/opt/cuda/lib64")
_ASK_CUDNN = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cudnnGetVersion())"
_WHEELS = "import sys; print('\\n'.join(path + '/nvidia' for path in sys.path if path.endswith('-packages')))"
_NCCL = "libnccl.so.2"
_ASK_SECONDS = 20
# Time for the driver to initialise all cards. Without persistence mode, each takes seconds.
_DRIVER_SECONDS = 90
# Time for the first import of PyTorch from a disk.
_IMPORT_SECONDS = 90


class MachineError(RuntimeError):
    """The check needs something that is missing. The message names it."""


# Prints as its last line why the driver gives no card. The line is empty if the driver works.
_ASK_DRIVER = """
import ctypes
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    print("the NVIDIA driver cannot be opened (%s)" % error)
else:
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    print("the NVIDIA driver, libcuda.so.1, returns error %d" % status if status
          else "" if count.value else "the NVIDIA driver reports no GPU")
"""


def _building_takes(root: Path) -> str:
    """Returns the packages that tools/bundle needs and that are missing, as the end of a sentence."""
    setup = root / "tools/setup"
    names = [word for file in ("packages.txt", "packages-bundle.txt")
             for line in (setup / file).read_text(encoding="utf-8").splitlines()
             for word in line.partition("#")[0].split()]
    have_onednn = bool(_printed(["sh", str(setup / "onednn.sh"), "find"]).strip())
    onednn = [] if have_onednn else ["oneDNN 3"]
    if shutil.which("dpkg-query") is None:
        return f", which needs the contents of these Debian packages: {', '.join([*names, *onednn])}"
    installed = _printed(["dpkg-query", "-W", "-f=${db:Status-Status} ${Package}\n", *names]).splitlines()
    lacking = [name for name in names if f"installed {name}" not in installed] + onednn
    return f" after installing {', '.join(lacking)}" if lacking else ""


def find_bench(given: str | None) -> Path:
    """Returns the program of the flag, the bundle or the tree. Throws MachineError."""
    places = [Path(given)] if given else [_ROOT / "bin/bench", _ROOT / "build/release/bin/bench"]
    for place in places:
        if os.access(place, os.X_OK) and place.is_file():
            return place.resolve()
    missing = f"{' and '.join(map(str, places))} not found: unpack a bundle, which needs nothing else, or "
    if given or not (_ROOT / "tools/setup").is_dir():
        raise MachineError(f"{missing}give --bench=FILE")
    raise MachineError(f"{missing}build one with tools/bundle{_building_takes(_ROOT)}")


def find_plugin(bench: Path) -> Path:
    """Throws MachineError."""
    plugin = bench.parent.parent / "lib/libbench_cuda.so"
    if not plugin.exists():
        raise MachineError(f"{plugin} not found: this bench has no GPU support")
    return plugin


def check_card() -> None:
    """Throws MachineError if a program cannot use any GPU."""
    said = _printed([sys.executable, "-c", _ASK_DRIVER], _DRIVER_SECONDS).splitlines()
    why = said[-1] if said else "the NVIDIA driver does not answer"
    if not why:
        return
    seen = sorted(glob.glob("/dev/nvidia[0-9]*"))
    files = f"{', '.join(seen)} exists" if seen else "/dev/nvidia0 does not exist"
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    raise MachineError(f"no usable GPU found, so nothing was checked: {why}, and {files}"
                       f"{f'; CUDA_VISIBLE_DEVICES is {chosen!r}' if chosen is not None else ''}")


def keep_cards_ready() -> int:
    """Keeps the driver initialised until this program ends, and returns the number of cards. On some machines each
    program would otherwise initialise the cards again, which takes seconds."""
    count = ctypes.c_int()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuInit(0)
        driver.cuDeviceGetCount(ctypes.byref(count))
    except OSError:
        pass
    return count.value


def torch_script() -> Path:
    return _ROOT / "tools/peers/torch_cnn.py"


def _printed(command: Sequence[str], limit_seconds: float = _ASK_SECONDS) -> str:
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit_seconds, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def needed_libraries(plugin: Path) -> list[str]:
    """Returns the names of CUDA's libraries that the library for GPUs is linked with, and of NVRTC, which cuDNN
    opens."""
    found = re.findall(rb"\0(lib(?:cudnn|cublasLt)\.so\.(\d+))(?=\0)", plugin.read_bytes())
    names = sorted({name.decode() for name, _ in found})
    majors = {major.decode() for name, major in found if b"cublasLt" in name}
    return names + [f"libnvrtc.so.{major}" for major in majors]


@dataclass(frozen=True)
class Libraries:
    """Folders to search, and the libraries that none of them has."""
    folders: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()
    # NCCL, which bench opens by its name, if the loader's path does not have it.
    nccl: Path | None = None

    def environment(self) -> dict[str, str]:
        given = os.environ.get("LD_LIBRARY_PATH")
        paths = [*map(str, self.folders), *([given] if given else [])]
        found = {"LD_LIBRARY_PATH": ":".join(paths)} if paths else {}
        if self.nccl is not None and "BENCH_NCCL_LIBRARY" not in os.environ:
            found["BENCH_NCCL_LIBRARY"] = str(self.nccl)
        return found


def _version_of_cudnn(library: Path) -> int:
    """Returns 91900 for 9.19.0, and 0 if it cannot be asked."""
    answer = _printed([sys.executable, "-c", _ASK_CUDNN, str(library)]).strip()
    return int(answer) if answer.isdigit() else 0


def find_libraries(names: Sequence[str], own: Path, folders: Sequence[Path], cached: str,
                   version: Callable[[Path], int] = _version_of_cudnn) -> Libraries:
    """Returns the folders of the libraries that neither the bundle (`own`) nor the loader's cache has, and of the newest
    cuDNN: bench needs a new one, and machines with PyTorch often have two."""
    chosen: list[Path] = []
    missing = []
    for name in names:
        known = [Path(path) for path in re.findall(rf"^\s*{re.escape(name)} .*=> (.*)$", cached, re.MULTILINE)]
        known = [path for path in known if path.exists()]
        having = [folder for folder in folders if (folder / name).exists()]
        if (own / name).exists():
            continue
        if name.startswith("libcudnn.") and having:
            newest = max(having, key=lambda folder: version(folder / name))
            if not known or version(newest / name) > version(known[0]):
                chosen.insert(0, newest)
        elif not known and not having:
            missing.append(name)
        elif not known and not set(having) & set(chosen):
            chosen.append(having[0])
    nccl = None if f"{_NCCL} " in cached else next(
        (folder / _NCCL for folder in folders if (folder / _NCCL).exists()), None)
    return Libraries(tuple(chosen), tuple(missing), nccl)


def library_folders(pythons: Sequence[str]) -> list[Path]:
    given = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    wheels = [folder for python in pythons for line in _printed([python, "-c", _WHEELS]).split("\n") if line
              for folder in sorted(glob.glob(f"{line}/*/lib"))]
    toolkits = [folder for pattern in _TOOLKITS for folder in sorted(glob.glob(pattern))]
    return [Path(folder) for folder in [*given, *wheels, *toolkits]]


@dataclass(frozen=True)
class Machine:
    bench: Path
    # A Python with PyTorch and torchvision, or None.
    torch_python: str | None
    sanitizer: str | None
    libraries: Libraries = field(default_factory=Libraries)
    # The number of GPUs.
    cards: int = 1

    def program(self, name: str) -> Path:
        """Returns one of our programs in bench's folder."""
        return self.bench.with_name(name)

    def environment(self) -> Mapping[str, str]:
        """Returns the environment for our programs."""
        return self.libraries.environment()


def look_around(bench: Path, plugin: Path, python: str | None, cards: int) -> Machine:
    pythons = [python] if python else [name for name in ("python3", "python") if shutil.which(name)]
    libraries = find_libraries(needed_libraries(plugin), plugin.parent, library_folders(pythons),
                               _printed(["ldconfig", "-p"]) or _printed(["/sbin/ldconfig", "-p"]))
    with_torch = (name for name in pythons
                  if _printed([name, "-c", "import torch, torchvision; print(1)"], _IMPORT_SECONDS).strip())
    sanitizer = shutil.which("compute-sanitizer") or next(
        (path for path in sorted(glob.glob("/usr/local/cuda*/bin/compute-sanitizer"))), None)
    return Machine(bench, next(with_torch, None), sanitizer, libraries, cards)
