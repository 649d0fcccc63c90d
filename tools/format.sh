#!/bin/sh
# Format all C and Python files, or with --check only tell which are not formatted.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/.."

# Where the formatters are; clang-format 18 and the ruff of pyproject.toml (extra "dev").
bin=${BIN:-.venv/bin}

case ${1:-} in
--check) clang_options='--dry-run --Werror' ruff_options='--check' ;;
'') clang_options=-i ruff_options= ;;
*)
    echo "usage: format.sh [--check]" >&2
    exit 2
    ;;
esac

# shellcheck disable=SC2086  # lists of options
find csrc tests/c tests/install fuzz -name '*.[ch]' -exec "$bin/clang-format" $clang_options {} +
# shellcheck disable=SC2086
"$bin/ruff" format --quiet $ruff_options blosc2c bench fuzz tests tools
