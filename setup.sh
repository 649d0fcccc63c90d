#!/bin/sh
# Install what is lacking, build the wheel into .venv, pack and read an array with it.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")"
. tools/packages.sh

need_packages ca-certificates gcc libc6-dev ninja-build cmake pkg-config \
    python3 python3-dev python3-venv libxxhash-dev libzfp-dev

python=${PYTHON:-python3}
if ! .venv/bin/python -c '' 2>/dev/null; then
    "$python" -m venv --clear .venv || fail "$python cannot make a virtual environment"
fi

rm -rf dist
.venv/bin/python -m pip wheel --no-deps --wheel-dir dist . || fail "the wheel cannot be built"
# First what it depends on, then the wheel itself, also when that version is there already.
.venv/bin/python -m pip install dist/blosc2c-*.whl
.venv/bin/python -m pip install --force-reinstall --no-deps dist/blosc2c-*.whl

.venv/bin/python tools/demo.py
