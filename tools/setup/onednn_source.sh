# Builds oneDNN from the source package of a newer Debian, for Debian 12. Sourced by onednn.sh. The archive's address
# and key come from the machine's apt configuration, and apt checks the signatures. The request uses private lists, so
# it needs neither root nor a change of the system's configuration.

source_suite=trixie
source_version=3.7.2
source_settings='-DCMAKE_BUILD_TYPE=Release -DONEDNN_CPU_RUNTIME=OMP -DONEDNN_BUILD_GRAPH=OFF
 -DONEDNN_BUILD_TESTS=OFF -DONEDNN_BUILD_EXAMPLES=OFF -DONEDNN_BUILD_DOC=OFF
 -DONEDNN_ARCH_OPT_FLAGS= -DCMAKE_INSTALL_LIBDIR=lib'

# Prints FILE:NUMBER of the apt entry for the Debian archive of this release. Uses the archive's metadata if apt has its
# lists, otherwise the release's name.
archive_entry() {
  archive_codename=$(
    . /etc/os-release
    printf '%s' "${VERSION_CODENAME:-}"
  )
  # shellcheck disable=SC2016  # the format is apt-get's
  apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(RELEASE)|$(COMPONENT)|$(SOURCESENTRY)' \
    'Identifier: Packages' 2>/dev/null |
    awk -F '|' -v name="$archive_codename" '
      $4 != "main" { next }
      $1 == "Debian" && $2 == name { print $5; found = 1; exit }
      $1 !~ /^[A-Z]/ && $3 == name && guess == "" { guess = $5 }
      END { if (!found && guess != "") print guess }'
}

# private_sources FILE:NUMBER FOLDER: writes the entry for the required suite as sources, with the same address, keys
# and other options. FILE has one of apt's two formats. NUMBER counts its stanzas (.sources) or lines (.list).
private_sources() {
  private_file=${1%:*}
  case $private_file in
    *.sources)
      awk -v number="${1##*:}" -v suite="$source_suite" '
        BEGIN { RS = ""; FS = "\n" }
        !/(^|\n)Types:/ || ++stanza != number { next }
        {
          print "Types: deb-src\nSuites: " suite "\nComponents: main"
          keep = 0
          for (i = 1; i <= NF; ++i) {
            if ($i ~ /^#/) continue
            if ($i !~ /^[ \t]/)
              keep = $i !~ /^(Types|Suites|Components|Architectures|Enabled|Languages|Targets):/
            if (keep) print $i
          }
        }' "$private_file" >"$2/private.sources"
      ;;
    *)
      awk -v number="${1##*:}" -v suite="$source_suite" '
        NR != number { next }
        {
          sub(/#.*/, "")
          options = ""
          if (match($0, /\[[^]]*\]/)) {
            options = substr($0, RSTART, RLENGTH) " "
            sub(/arch=[^] ]* */, "", options)
            sub(/^\[ *\] /, "", options)
            $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
          }
          print "deb-src " options $2 " " suite " main"
        }' "$private_file" >"$2/private.list"
      ;;
  esac
}

# fetch_source FOLDER: puts the unpacked source into FOLDER/source.
fetch_source() {
  fetch_entry=$(archive_entry)
  if [ -z "$fetch_entry" ]; then
    echo "apt's configuration contains no Debian archive for this release"
    return 1
  fi
  rm -rf "$1/apt" "$1/unpacked"
  mkdir -p "$1/apt/lists/partial" "$1/apt/cache" "$1/unpacked"
  private_sources "$fetch_entry" "$1/apt" || return
  set -- "$1" -o "Dir::Etc::sourcelist=$(echo "$1"/apt/private.*)" -o Dir::Etc::sourceparts=/dev/null \
    -o "Dir::State::lists=$1/apt/lists" -o "Dir::Cache=$1/apt/cache" -o APT::Sandbox::User=root
  fetch_folder=$1
  shift
  apt-get "$@" update || return
  (cd "$fetch_folder/unpacked" && apt-get "$@" --only-source source onednn) || return
  set -- "$fetch_folder"/unpacked/onednn-"$source_version"*/
  if [ ! -f "${1}CMakeLists.txt" ]; then
    echo "expected oneDNN $source_version in $source_suite, got:" "$fetch_folder"/unpacked/*
    return 1
  fi
  mv "$1" "$fetch_folder/source"
  rm -rf "$fetch_folder/apt" "$fetch_folder/unpacked"
}

# make_from_source PART PREFIX: downloads, builds and installs into PREFIX. Reuses the files that a killed attempt left
# in PART.
make_from_source() {
  [ -d "$1/source" ] ||
    step "$1/fetch.log" "fetching oneDNN $source_version's source package from Debian's $source_suite" \
      fetch_source "$1" || return
  # shellcheck disable=SC2086  # a list of settings
  step "$1/configure.log" "configuring oneDNN" \
    cmake --fresh -S "$1/source" -B "$1/build" -G Ninja $source_settings || return
  ninja_step "$1/build.log" "building oneDNN $source_version once into the cache, 20 to 30 minutes on 2 cores" \
    cmake --build "$1/build" --parallel "$(nproc)" || return
  step "$1/install.log" "installing oneDNN into the cache" cmake --install "$1/build" --prefix "$2"
}
