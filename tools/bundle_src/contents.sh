# Lists the contents of a bundle with their origins and licences. Sourced by tools/bundle.

# package_of FILE: prints the Debian package that contains the library FILE, or nothing.
package_of() {
  package_path=$(readlink -f "$1")
  for package_name in "$package_path" "${package_path#/usr}" "/usr$package_path"; do
    if dpkg-query -S "$package_name" 2>/dev/null | sed -n '1s/: .*//p' | grep .; then
      return
    fi
  done
}

# wheel_of FILE: prints the metadata folder of the Python wheel that contains FILE, or nothing.
wheel_of() {
  wheel_folder=$(dirname "$(readlink -f "$1")")
  grep -ls "/$(basename "$1")," "$wheel_folder"/../dist-info/*/RECORD "$wheel_folder"/../../../*.dist-info/RECORD |
    sed -n '1s,/RECORD$,,p'
}

# named_licence COPYRIGHT: prints the licence of most files of a machine-readable Debian copyright file. Also recognizes
# GCC's. Otherwise it refers to the text.
named_licence() {
  named_found=$(awk '/^Files: *\*/ {of = 1} of && /^License: *[^ ]/ {sub(/^License: */, ""); print; exit}
    /^$/ && of > 0 {of = 0}' "$1")
  if [ -z "$named_found" ] && grep -q 'GCC Runtime Library Exception' "$1"; then
    named_found='GPL-3+ with the GCC Runtime Library Exception'
  fi
  printf '%s\n' "${named_found:-see its text}"
}

# keep_text STAGE NAME FILE: copies a licence's text into the bundle.
keep_text() {
  mkdir -p "$1/share/doc/bench/licences"
  cp -L "$3" "$1/share/doc/bench/licences/$2"
}

# origin_of STAGE NAME PATH: prints the origin and the licence of the library at PATH, separated by `|`.
origin_of() {
  origin_package=$(package_of "$3")
  origin_wheel=$(wheel_of "$3")
  if [ -n "$origin_package" ]; then
    origin_text=/usr/share/doc/${origin_package%%:*}/copyright
    # shellcheck disable=SC2016  # the format is dpkg-query's
    origin_name=$(dpkg-query -W -f='Debian ${Package} ${Version}' "$origin_package")
    origin_licence=$(named_licence "$origin_text")
    keep_text "$1" "${origin_package%%:*}" "$origin_text"
  elif [ -n "$origin_wheel" ]; then
    origin_name=$(sed -n -e 's/^Name: //p' -e 's/^Version: //p' "$origin_wheel/METADATA" | tr '\n' ' ')
    origin_licence=$(sed -n -e 's/^License\(-Expression\)\{0,1\}: //p' "$origin_wheel/METADATA" | head -n 1)
    origin_text=$(find "$origin_wheel" -iname 'licen[cs]e*' -type f | head -n 1)
    [ -z "$origin_text" ] || keep_text "$1" "${origin_name%% *}" "$origin_text"
  else
    origin_name=$3 origin_licence='unknown; its text is not in the bundle'
  fi
  printf '%s|%s\n' "${origin_name% }" "$origin_licence"
}

# write_contents STAGE VERSION: prints the contents of the bundle and adds the licences to it. The file STAGE.taken
# lists the libraries as name, tab, path.
write_contents() {
  contents_libc=$(LC_ALL=C objdump -T "$1"/bin/* "$1"/lib/*.so* 2>/dev/null | grep -o 'GLIBC_[0-9.]*' |
    sort -uV | tail -n 1)
  echo "$2 for Linux on $(uname -m), with a C library of version ${contents_libc#GLIBC_} or newer."
  echo "bin/bench runs from any location of this folder. The licence texts are in share/doc/bench."
  echo
  for contents_file in "$1"/bin/* "$1"/lib/*.so* "$1"/tools/*; do
    [ -f "$contents_file" ] || continue
    contents_name=${contents_file#"$1"/}
    contents_from=$(sed -n "s,^${contents_name#lib/}\t,,p" "$1.taken" | head -n 1)
    if [ -n "$contents_from" ]; then
      contents_origin=$(origin_of "$1" "${contents_name#lib/}" "$contents_from")
    elif [ "${contents_name#lib/libdnnl}" != "$contents_name" ]; then
      contents_origin='oneDNN|Apache-2.0'
    else
      contents_origin='bench|see LICENSE'
    fi
    printf '%-44s %8.1f MiB  %-44s %s\n' "$contents_name" \
      "$(awk "BEGIN {print $(stat -c %s "$contents_file") / 1048576}")" "${contents_origin%%|*}" "${contents_origin#*|}"
  done
}
