# Finds missing Debian packages and installs them. Sourced after common.sh.

: "${root:?}"

# missing_packages NAME...: prints the packages that are not installed, in one line.
missing_packages() {
  # shellcheck disable=SC2016  # the format is dpkg-query's
  missing_installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p' | tr '\n' ' ')
  missing_names=
  for missing_name in "$@"; do
    case " $missing_installed" in
      *" $missing_name "*) ;;
      *) missing_names="$missing_names $missing_name" ;;
    esac
  done
  printf '%s\n' "${missing_names# }"
}

has_root() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

apt_get() {
  as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300 "$@"
}

# Refreshes apt's lists, at most once, so that apt knows the candidates and downloads succeed. Waits while another
# program holds the lists, because apt-get has no timeout for that. Ignores failures: the installation may not need the
# unreachable lists.
refresh_lists() {
  [ -z "${lists_refreshed:-}" ] || return 0
  lists_refreshed=yes
  refresh_log=$root/build/log/apt-update.log
  refresh_seconds=0
  note "apt-get update (log: $refresh_log)"
  mkdir -p "${refresh_log%/*}"
  until apt_get update >"$refresh_log" 2>&1 </dev/null; do
    if [ "$refresh_seconds" -ge 300 ] || ! grep -q 'Could not get lock' "$refresh_log"; then
      note "apt-get update failed; continuing with the existing package lists"
      return 0
    fi
    [ "$refresh_seconds" -gt 0 ] || note "waiting for another program that uses apt-get"
    sleep 3
    refresh_seconds=$((refresh_seconds + 3))
  done
}

# ensure_packages NAME...: installs missing packages, or prints their names and exits 2.
ensure_packages() {
  [ -z "${BENCH_NO_PACKAGES:-}" ] || return 0
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "apt-get is not installed. Install the equivalents of these Debian packages and set BENCH_NO_PACKAGES=1: $*"
  fi
  ensure_missing=$(missing_packages "$@")
  [ -n "$ensure_missing" ] || return 0
  if ! has_root; then
    note "packages are missing; run as root:"
    note "  apt-get update && apt-get install --no-install-recommends $ensure_missing"
    exit 2
  fi
  refresh_lists
  # shellcheck disable=SC2086  # a list of names
  set -- $ensure_missing
  step "$root/build/log/apt-install.log" \
    "installing $# packages, a minute or two: apt-get install $ensure_missing" \
    apt_get install --no-install-recommends "$@" ||
    fail "apt-get cannot install: $ensure_missing"
}
