# Installs oneDNN from wheels of the Python package index with headers and a library for GNU OpenMP. They exist for
# x86-64 only and up to version 3.2. Sourced by onednn.sh. pip's index and options apply.

wheel_version=3.2.0
wheel_release=2023.2.0

# make_from_wheel PART PREFIX: downloads both wheels and arranges their files like an installation.
make_from_wheel() {
  rm -rf "$1/wheels" "$1/unpacked"
  mkdir -p "$1/wheels" "$1/unpacked"
  step "$1/download.log" "downloading oneDNN $wheel_version as Python wheels, 39 MB" \
    python3 -m pip download --no-deps --only-binary=:all: --dest "$1/wheels" \
    "onednn-cpu-gomp==$wheel_release" "onednn-devel-cpu-gomp==$wheel_release" || return
  for wheel_file in "$1"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel_file" "$1/unpacked" || return
  done
  mkdir -p "$2"
  cp -R "$1"/unpacked/*.data/data/. "$2" || return
  # A wheel contains no symbolic links. Replace the three copies of the library with one copy and links.
  ln -sf libdnnl.so.3.2 "$2/lib/libdnnl.so.3"
  ln -sf libdnnl.so.3 "$2/lib/libdnnl.so"
}
