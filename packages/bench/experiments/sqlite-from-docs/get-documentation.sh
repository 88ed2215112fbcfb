#!/bin/sh
# Puts SQLite's documentation, as Debian's package sqlite3-doc has it, into the
# directory that is given. The package is got with apt-get, or is the file that
# SQLITE_DOC_DEB names. Pages that tell how SQLite is tested stay out, and so do
# indexes and cross references, which would be most of what is there to read.
set -eu
into=${1:?the directory to fill}
fail() {
  echo "get-documentation: $1" >&2
  exit 1
}
command -v dpkg-deb >/dev/null || fail "dpkg-deb is not here: it takes a Debian system, or one with the package dpkg"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${SQLITE_DOC_DEB:-}" ]; then
  [ -f "$SQLITE_DOC_DEB" ] || fail "SQLITE_DOC_DEB names no file"
  package=$SQLITE_DOC_DEB
else
  command -v apt-get >/dev/null || fail "apt-get is not here: get the package sqlite3-doc elsewhere, and name its file in SQLITE_DOC_DEB"
  (cd "$work" && apt-get download sqlite3-doc >log 2>&1) || fail "apt-get cannot download sqlite3-doc ($(tail -n 1 "$work/log")): get it elsewhere, and name its file in SQLITE_DOC_DEB"
  package=$(echo "$work"/sqlite3-doc_*.deb)
fi
dpkg-deb -x "$package" "$work/package" || fail "$package is no Debian package"
pages=$work/package/usr/share/doc/sqlite3
[ -f "$pages/lang.html" ] || fail "$package holds no documentation of SQLite"
cd "$pages"
find . -name '*.html' \
  ! -name requirements.html ! -name 'doc_*_crossref.html' ! -name keyword_index.html \
  ! -name testing.html ! -name th3.html ! -name qmplan.html \
  -exec cp --parents -t "$into" {} +
