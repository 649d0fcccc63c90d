#!/bin/sh
# Check what a binary exports: the extension its init functions, the library names with b2c_.
# usage: check_symbols.sh file…
# SPDX-License-Identifier: BSD-3-Clause
set -eu

[ $# -gt 0 ] || {
    echo "usage: check_symbols.sh file..." >&2
    exit 2
}

for file; do
    case ${file##*/} in
    _b2c.*) allowed='PyInit__[a-z0-9]*' ;;
    libblosc2c.*) allowed='b2c_[a-z0-9_]*' ;;
    *)
        echo "$file: neither the extension nor the library" >&2
        exit 2
        ;;
    esac
    # A failing nm must not look like a library without exports.
    all=$(nm -D --defined-only "$file")
    names=$(printf '%s\n' "$all" | sed -n 's/^[0-9a-f]* [A-Z] \(.*\)$/\1/p')
    if ! printf '%s\n' "$names" | grep -q -x "$allowed"; then
        echo "$file: exports nothing that is named $allowed" >&2
        exit 1
    fi
    if printf '%s\n' "$names" | grep -v -x "$allowed" >&2; then
        echo "$file: exports more than $allowed" >&2
        exit 1
    fi
    printf '%s: %s symbols, all %s\n' "${file##*/}" "$(printf '%s\n' "$names" | wc -l)" "$allowed"
done
