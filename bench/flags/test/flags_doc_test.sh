#!/bin/sh
# flags_doc_test.sh BENCH FLAGS.md: fails unless the document lists the flags that `BENCH --help=all` prints, in the
# same order. Default, meaning, accepted values and state of each flag must be equal, except for the document's
# backticks and links.
set -eu

help=$("$1" --help=all)

# One line per flag: name, default, meaning with the accepted values, and state. Unless the state is "built", it is in
# brackets at the end of the explanation.
in_help=$(printf '%s\n' "$help" | awk '
  function finish() {
    if (name == "") return
    state = "built"
    if (match(text, / \[.*\]$/)) state = substr(text, RSTART + 2, RLENGTH - 3)
    sub(/ \[.*\]$/, "", text)
    without = "unset"
    if (match(text, /[(; ]+default [^()]*\)$/)) {
      without = substr(text, RSTART, RLENGTH - 1)
      sub(/^[(; ]+default /, "", without)
    }
    # The default alone in the parentheses, or after the accepted values.
    sub(/ \((default [^()]*|unset by default)\)$/, "", text)
    sub(/; (default [^()]*|unset by default)\)$/, ")", text)
    gsub(/`/, "", text)
    print name ": " without ": " text ": " state
    name = ""
  }
  /^  --/ {
    finish()
    name = $1
    sub(/[[=].*/, "", name)
    sub(/^  --[^ ]+ */, "")
    text = $0
    next
  }
  /^ +[^ ]/ && name != "" { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
  { finish() }
  END { finish() }')

in_document=$(awk -F ' [|] ' '/^[|] `--/ {
  name = $1
  gsub(/[|` ]/, "", name)
  without = $2
  gsub(/`/, "", without)
  meaning = $3
  gsub(/`/, "", meaning)
  gsub(/\]\([^)]*\)/, "", meaning)
  gsub(/\[/, "", meaning)
  state = $4
  sub(/ [|]$/, "", state)
  print name ": " without ": " meaning ": " state
}' "$2")

[ -n "$in_help" ] || { echo "no flags in the help of $1"; exit 1; }
[ "$in_help" = "$in_document" ] && exit 0

# The lines that occur in only one of them.
echo "$2 differs from $1 --help=all (-: the help, +: the document)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '%s\n' "$in_help" >"$scratch/help"
printf '%s\n' "$in_document" >"$scratch/document"
diff -U 0 "$scratch/help" "$scratch/document" | sed -e 1,2d -e '/^@@/d'
exit 1
