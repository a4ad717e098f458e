# oneDNN from the wheels of the Python package index that carry headers and a library on GNU OpenMP:
# x86-64 only, and no newer than 3.2. Sourced by onednn.sh; index and options are pip's own.

wheel_version=3.2.0
wheel_release=2023.2.0

# make_from_wheel PART PREFIX: downloads both wheels and lays their files out as an installation.
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
  # A wheel knows no symbolic links: one copy of the library and links instead of three copies.
  ln -sf libdnnl.so.3.2 "$2/lib/libdnnl.so.3"
  ln -sf libdnnl.so.3 "$2/lib/libdnnl.so"
}
