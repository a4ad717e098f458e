# Messages, long steps and the cache folder. Sourced by the scripts of this folder and of tools/. Needs $root, the
# repository's root. Messages go to stderr, so that stdout contains only the program's output.

note() { printf 'setup: %s\n' "$*" >&2; }

fail() {
  note "$*"
  exit 2
}

# Prints the folder for what is downloaded or built once per machine.
cache_dir() {
  if [ -n "${BENCH_CACHE_DIR:-}" ]; then
    printf '%s\n' "$BENCH_CACHE_DIR"
  elif [ -n "${XDG_CACHE_HOME:-}" ]; then
    printf '%s\n' "$XDG_CACHE_HOME/bench"
  elif [ -n "${HOME:-}" ]; then
    printf '%s\n' "$HOME/.cache/bench"
  else
    fail "cannot choose a cache folder: set BENCH_CACHE_DIR or HOME"
  fi
}

# Prints the words of list files without comments.
read_list() { sed 's/#.*//' "$@" | tr -s ' \n' ' '; }

show_log_end() {
  note "failed; the end of $1:"
  tail -n 40 "$1" >&2
}

# step LOG WHAT COMMAND...: prints WHAT and runs COMMAND with its output in LOG. If it fails, prints the end of the log.
# Returns COMMAND's status.
step() {
  step_log=$1
  note "$2 (log: $step_log)"
  shift 2
  mkdir -p "${step_log%/*}"
  step_status=0
  "$@" >"$step_log" 2>&1 </dev/null || step_status=$?
  [ "$step_status" = 0 ] || show_log_end "$step_log"
  return "$step_status"
}

# Reads ninja's output, whose lines begin with `[finished/total seconds] `, and stores it in the log $1. Prints the
# number of steps and the minutes left: in place on a terminal, elsewhere once per tenth. Prints nothing if the only
# step is asking git for the revision, which every build does. The last line must be `status N`, and N becomes the
# return status.
follow_ninja() {
  follow_status=1
  follow_tenth=
  while IFS= read -r follow_line; do
    case $follow_line in
      "status "[0-9]*)
        follow_status=${follow_line#status }
        continue
        ;;
      \[[01]/[0-9]\ *\]*) ;;
      \[[0-9]*/[0-9]*\ *\]*)
        follow_count=${follow_line%%\]*}
        follow_seconds=${follow_count#* }
        follow_count=${follow_count%% *}
        follow_count=${follow_count#\[}
        follow_done=${follow_count%/*}
        follow_total=${follow_count#*/}
        [ -n "$follow_tenth" ] || note "$2: $follow_total steps (log: $1)"
        follow_now=$((follow_done * 10 / follow_total))
        if [ -t 2 ]; then
          printf '\r\033[Ksetup: %s' "$(steps_left)" >&2
          follow_tenth=terminal
        elif [ "$follow_now" != "$follow_tenth" ]; then
          [ "$follow_now" = 0 ] || note "$(steps_left)"
          follow_tenth=$follow_now
        fi
        ;;
    esac
    printf '%s\n' "$follow_line"
  done >"$1"
  [ "$follow_tenth" != terminal ] || printf '\n' >&2
  return "$follow_status"
}

# Prints the progress of follow_ninja. Estimates the time left from the speed of the finished steps.
steps_left() {
  left_seconds=${follow_seconds%%.*}
  left_seconds=$((follow_done == 0 ? 0 : left_seconds * (follow_total - follow_done) / follow_done))
  if [ "$left_seconds" -ge 90 ]; then
    printf '%s of %s steps, about %s minutes left' "$follow_done" "$follow_total" $(((left_seconds + 30) / 60))
  else
    printf '%s of %s steps, about %s seconds left' "$follow_done" "$follow_total" "$left_seconds"
  fi
}

# ninja_step LOG WHAT COMMAND...: like `step`, for a COMMAND that prints ninja's progress.
ninja_step() {
  ninja_log=$1
  ninja_what=$2
  shift 2
  mkdir -p "${ninja_log%/*}"
  ninja_status=0
  {
    NINJA_STATUS='[%f/%t %e] ' "$@" 2>&1 </dev/null && echo 'status 0' || echo "status $?"
  } | follow_ninja "$ninja_log" "$ninja_what" || ninja_status=$?
  [ "$ninja_status" = 0 ] || show_log_end "$ninja_log"
  return "$ninja_status"
}

# Waits for the lock file $1 and holds it through descriptor 9 until the process and its children end. The kernel
# releases it however they end, so a lock is never stale. $2 describes the process that it waits for.
take_lock() {
  mkdir -p "${1%/*}"
  exec 9>"$1"
  flock -n 9 && return
  note "waiting for another process that $2"
  flock 9
}

release_lock() { exec 9>&-; }

# make_entry ENTRY NAME USABLE MAKE HINT: makes a cache entry with `MAKE PART PREFIX` in the temporary folder PART. If
# `USABLE PREFIX` succeeds, it renames PREFIX to ENTRY. A killed attempt leaves only PART, and the next attempt
# continues there. Prints ENTRY. On failure, prints HINT, which describes alternatives.
make_entry() {
  make_part=$1.part
  take_lock "$1.lock" "puts $2 into the cache ($1)"
  if ! "$3" "$1"; then
    mkdir -p "$make_part"
    rm -rf "$1" "$make_part/prefix"
    "$4" "$make_part" "$make_part/prefix" || fail "cannot provide $2; $5"
    "$3" "$make_part/prefix" || fail "$2 is not usable: $make_part/prefix"
    mv "$make_part/prefix" "$1"
    rm -rf "$make_part"
    note "$2 is in $1"
  fi
  release_lock
  printf '%s\n' "$1"
}
