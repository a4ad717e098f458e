#!/usr/bin/env python3
"""Builds the image of Containerfile without a container engine, and runs bench on two hosts made from it.

    container_test.py [--keep=FOLDER] [NAME=VALUE]...    build arguments, such as MPI=mpich

Executes the steps of Containerfile in bare Debian systems. Then two copies of the image act as hosts: each has its own
files, processes, shared memory and network address. Only the network connects them. Needs root, mmdebstrap and a Debian
mirror; takes ten minutes on 2 cores.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER.parents[1]
# Runs a command in the system $0, with its own processes and shared memory.
ENTER = """
mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" "$@"
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def isolated(root, *command):
    return ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, str(root),
            *command]


def instructions(text):
    """Yields the instructions of a Containerfile: ("RUN", "...")."""
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.split("\n"))):
        name, _, value = line.partition(" ")
        yield name, value.strip()


class Image:
    """The stages of a Containerfile, each a folder with a system."""

    def __init__(self, work, arguments):
        self.work = work
        self.given = arguments
        self.stages = {}
        self.variables = {}
        self.arguments = {}
        self.root = None

    def base(self):
        """A copy of a bare Debian system, which stands for the image that FROM names."""
        bare = self.work / "debian"
        if not bare.exists():
            run("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", bare)
        root = self.work / f"stage{len(self.stages)}"
        run("cp", "-a", bare, root)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        return root

    def from_(self, value):
        self.root = self.base()
        self.arguments = {}
        self.variables = {}
        self.stages[value.split(" AS ")[1] if " AS " in value else ""] = self.root

    def arg(self, value):
        name, _, default = value.partition("=")
        self.arguments[name] = self.given.get(name, default)

    def env(self, value):
        self.variables.update(word.split("=", 1) for word in shlex.split(value))

    def copy(self, value):
        words = shlex.split(value)
        if words[0].startswith("--from="):
            source = self.stages[words.pop(0).partition("=")[2]]
            run("cp", "-a", f"{source}{words[0]}", f"{self.root}{words[1]}")
        else:
            assert words[0] == ".", value
            run("git", "clone", "--quiet", SOURCE, f"{self.root}{words[1]}")

    def run(self, value):
        print(f"+ {value}", flush=True)
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **self.arguments,
                       **self.variables, "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
        if "PIP_CERT" in os.environ:
            shutil.copy(os.environ["PIP_CERT"], self.root / "etc/pip.crt")
            environment["PIP_CERT"] = "/etc/pip.crt"
        with (self.work / "log").open("w") as log:
            if subprocess.run(isolated(self.root, "/bin/sh", "-c", value), env=environment, stdout=log, stderr=log,
                              check=False).returncode:
                sys.exit((self.work / "log").read_text()[-4000:])

    def cmd(self, value):
        self.command = json.loads(value)

    def build(self):
        steps = {"FROM": self.from_, "ARG": self.arg, "ENV": self.env, "COPY": self.copy, "RUN": self.run,
                 "CMD": self.cmd}
        for name, value in instructions((FOLDER / "Containerfile").read_text()):
            if name != "ARG" or self.root is not None:
                steps[name](value)
        return self.root


class Hosts:
    """Copies of a system that only a network connects."""

    def __init__(self, image, names):
        self.image = image
        self.names = names
        self.servers = {}

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def start(self):
        key = self.image.work / "id_ed25519"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        run("ip", "link", "add", "bench-bridge", "type", "bridge")
        run("ip", "link", "set", "bench-bridge", "up")
        for number, name in enumerate(self.names, 1):
            root = self.image.work / name
            run("cp", "-a", self.image.root, root)
            (root / "root/.ssh").mkdir(mode=0o700)
            shutil.copy(key, root / "root/.ssh/id_ed25519")
            shutil.copy(f"{key}.pub", root / "root/.ssh/authorized_keys")
            (root / "etc/hosts").write_text("127.0.0.1 localhost\n" + "".join(
                f"10.79.0.{other} {each}\n" for other, each in enumerate(self.names, 1)))
            space = f"bench-{name}"
            run("ip", "netns", "add", space)
            run("ip", "link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", f"bench{number}")
            run("ip", "link", "set", f"bench{number}", "master", "bench-bridge", "up")
            run("ip", "-n", space, "addr", "add", f"10.79.0.{number}/24", "dev", "eth0")
            run("ip", "-n", space, "link", "set", "eth0", "up")
            run("ip", "-n", space, "link", "set", "lo", "up")
            self.servers[name] = subprocess.Popen(
                ["ip", "netns", "exec", space,
                 *isolated(root, "/bin/sh", "-c", f"hostname {name} && exec /usr/sbin/sshd -De")],
                stderr=subprocess.DEVNULL)
        self.pids = {name: self.pid_of(server) for name, server in self.servers.items()}
        return self

    @staticmethod
    def pid_of(server):
        """The process of the host, whose namespaces a command enters."""
        children = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children")
        for _ in range(100):
            found = children.read_text().split()
            if found and b"sshd" in pathlib.Path(f"/proc/{found[0]}/cmdline").read_bytes():
                return found[0]
            time.sleep(0.1)
        sys.exit("a host's ssh server does not start")

    def on(self, name, *command, environment=None):
        """Runs a command on the host, and returns its output."""
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "HOME": "/root", **self.image.variables,
                     **(environment or {})}
        done = subprocess.run(["nsenter", "--target", self.pids[name], "--all", "--root", "--wd", *command],
                              env=variables, text=True, capture_output=True, check=False, timeout=300)
        if done.returncode:
            sys.exit(f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def __exit__(self, *_):
        for number, name in enumerate(self.names, 1):
            if name in self.servers:
                self.servers[name].kill()
                self.servers[name].wait()
            subprocess.run(["ip", "netns", "del", f"bench-{name}"], check=False, stderr=subprocess.DEVNULL)
            subprocess.run(["ip", "link", "del", f"bench{number}"], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "del", "bench-bridge"], check=False, stderr=subprocess.DEVNULL)


def check_record(text, hosts, library):
    world = json.loads(text)["world"]
    found = [rank["host"] for rank in world["ranks"]]
    assert found == hosts, f"the ranks ran on {found}"
    assert library in world["mpi"], world["mpi"]
    print(f"ok      {found}, {world['mpi']}, link {world['link']}", flush=True)


def main(work, arguments):
    mpi = arguments.get("MPI", "openmpi")
    library = {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi]
    for left in [*work.glob("stage*"), *work.glob("id_ed25519*"), work / "a", work / "b"]:
        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    image = Image(work, arguments)
    image.build()
    shutil.rmtree(image.stages["build"])
    size = run("du", "-sm", image.root, capture_output=True).stdout.split()[0]
    print(f"ok      the image is built: {size} MiB", flush=True)
    with Hosts(image, ["a", "b"]) as hosts:
        assert "--model" in hosts.on("a", *image.command)
        for name in hosts.names:
            hosts.on(name, "sh", "-c", f"echo {name} >/only && ! ls /source")
        assert hosts.on("a", "cat", "/only") == "a\n"
        flags = ["--device=cpu", "--model=lenet", "--batch_size=8", "--num_batches=20"]
        print(hosts.on("a", "bench", "--hosts=a,b", *flags, "--variable_update=horovod", "--result_file=/record.json"))
        check_record(hosts.on("a", "cat", "/record.json"), ["a", "b"], library)
        if mpi == "openmpi":
            # The MPI Operator starts the manifest's launcher like this.
            job = yaml.safe_load((FOLDER.parent / "kubernetes/mpijob.yaml").read_text())
            container = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
            hosts.on("a", "sh", "-c", "mkdir -p /etc/mpi && printf 'a slots=1\\nb slots=1\\n' >/etc/mpi/hostfile")
            smaller = [flag for flag in container["args"]
                       if not flag.startswith(("--model=", "--num_intra_threads=", "--result_file="))]
            hosts.on("a", *container["command"], *smaller, "--model=lenet", "--result_file=/job.json",
                     environment={"OMPI_MCA_orte_keep_fqdn_hostnames": "true",
                                  "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
                                  "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10"})
            check_record(hosts.on("a", "cat", "/job.json"), ["a", "b"], library)


if __name__ == "__main__":
    options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:])
    if os.geteuid() or not shutil.which("mmdebstrap"):
        sys.exit("container_test: needs root and mmdebstrap")
    keep = options.pop("keep", None)
    folder = pathlib.Path(keep) if keep else pathlib.Path(tempfile.mkdtemp(prefix="bench_container."))
    folder.mkdir(exist_ok=True)
    try:
        main(folder, options)
    finally:
        if not keep:
            shutil.rmtree(folder)
