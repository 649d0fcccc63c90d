#!/usr/bin/env bash
# Run every test.  Installs what is lacking, stops at the first failing step.
# Old sample files in $B2C_SAMPLES are tested as well when that is set.
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail
cd "$(dirname "$0")"
. tools/packages.sh

build=build/test
current=start
c_runs=0
c_passed=0
runner=()
selection=()

step()
{
    current=$*
    printf '\n== %s ==\n' "$*"
}

# c_tests name [cmake option…]: configure, build with warnings as errors, run all C tests and
# replay the fuzz corpora.
c_tests()
{
    local dir=$build/$1
    shift
    cmake -S . -B "$dir" -G Ninja -DB2C_WERROR=ON -DB2C_TESTS=ON -DB2C_FUZZ_REPLAY=ON \
        -DB2C_BUILD_SHARED=OFF "$@" >"$dir.log" || {
        cat "$dir.log"
        return 1
    }
    cmake --build "$dir" -- --quiet
    "${runner[@]}" ctest --test-dir "$dir" --output-on-failure --no-tests=error \
        "${selection[@]}" -j "$(nproc)" | tee "$dir.log"
    c_runs=$((c_runs + 1))
    c_passed=$((c_passed + $(sed -n 's/.*tests failed out of \([0-9]*\)$/\1/p' "$dir.log")))
}

# xxhash.h alone, without the other headers of this machine, for cross builds.
cross_include()
{
    local dir=$PWD/$build/include
    mkdir -p "$dir"
    cp /usr/include/xxhash.h "$dir"
    printf '%s' "$dir"
}

installed_library()
{
    local prefix=$PWD/$build/moved
    rm -rf "$prefix" "$build/prefix" "$build/consumer"
    cmake -S . -B "$build/library" -G Ninja -DB2C_WERROR=ON \
        -DCMAKE_INSTALL_PREFIX="$PWD/$build/prefix" -DCMAKE_INSTALL_LIBDIR=lib >"$build/library.log"
    cmake --build "$build/library" -- --quiet
    tools/check_symbols.sh "$build/library/libblosc2c.so"
    cmake --install "$build/library" >"$build/library.log"
    mv "$build/prefix" "$prefix"

    cmake -S tests/install -B "$build/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
        >"$build/library.log"
    cmake --build "$build/consumer" -- --quiet
    "$build/consumer/consumer"

    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    # shellcheck disable=SC2046  # a list of flags
    cc -Wall -Werror tests/install/consumer.c -o "$build/consumer/by-pkg-config" \
        $(pkg-config --cflags --libs blosc2c)
    LD_LIBRARY_PATH=$prefix/lib "$build/consumer/by-pkg-config"
}

# The program of docs/c.md reads the file that the examples of docs/python.md leave.
c_example()
{
    sed -n '/^```c$/,/^```$/p' docs/c.md | sed '/^```/d' >"$build/box.c"
    # shellcheck disable=SC2046  # a list of flags
    cc -std=c99 -pedantic -Wall -Wextra -Werror "$build/box.c" -o "$build/box" \
        $(pkg-config --cflags --libs blosc2c)
    [ "$(LD_LIBRARY_PATH=$build/moved/lib "$build/box" "$build/numbers.b2nd")" = \
        $'2003 2004 2005\n3003 3004 3005' ]
}

finish()
{
    local status=$?
    [ $status = 0 ] || printf '\nFAILED: %s (exit status %s)\n' "$current" "$status" >&2
}
trap finish EXIT
mkdir -p "$build"

step "Setup: packages, wheel, demonstration"
need_packages clang valgrind gcc-i686-linux-gnu libc6-dev-i386-cross \
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross \
    qemu-user-static libdeflate-dev zlib1g-dev liblz4-dev libzstd-dev
need_packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" # clang's sanitizers
./setup.sh
python=$PWD/.venv/bin/python
for wheel in dist/blosc2c-*.whl; do
    "$python" -m pip install --quiet "${wheel}[dev]"
done

step "Style: clang-format, ruff, mypy, layers"
tools/format.sh --check
.venv/bin/ruff check --quiet blosc2c bench fuzz tests tools
.venv/bin/mypy
"$python" tools/check_layers.py

step "C tests: gcc, release"
states=$PWD/$build/crash-states # what crashed writers leave; the Python tests look at it, too
rm -rf "$states"
mkdir -p "$states"
B2C_CRASH_STATES=$states B2C_CRASH_SUBSETS=300 c_tests gcc

# Crashes and faults have been tested in all cases now; the others take a sample.
export B2C_EVERY=17

step "C tests: address and undefined behaviour sanitizers"
c_tests asan -DB2C_SANITIZE="address;undefined" -DCMAKE_BUILD_TYPE=RelWithDebInfo

step "C tests: clang, without optimisation"
c_tests clang -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug

step "C tests: the system's libraries, zlib instead of libdeflate, no SIMD"
c_tests generic -DB2C_SYSTEM_LIBS=ON -DB2C_WITH_LIBDEFLATE=OFF -DB2C_SIMD=OFF

# Not worth their minutes in what follows: millions of small file operations of one thread;
# and where races are looked for, what knows no threads.
skipped='test_(bitflips|crash|faults)|(alloc|mutate)_.*'
selection=(--exclude-regex "^($skipped)\$")

step "C tests: clang, release"
# With the system's libraries, here and below, which need no compiling.
c_tests clang-release -DCMAKE_C_COMPILER=clang -DB2C_SYSTEM_LIBS=ON

selection=(--exclude-regex "^($skipped|test_(blosclz|codecs|deflate|lz4))\$")

step "C tests: thread sanitizer"
# It needs a predictable address space; containers may forbid asking for one.
if setarch -R true 2>/dev/null; then
    runner=(setarch -R)
fi
c_tests tsan -DB2C_SYSTEM_LIBS=ON -DB2C_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo
runner=()
selection=(--exclude-regex "^($skipped)\$")

step "C tests: valgrind, BloscLZ only"
bare=(-DB2C_WITH_LZ4=OFF -DB2C_WITH_ZSTD=OFF -DB2C_WITH_ZLIB=OFF -DB2C_WITH_ZFP=OFF)
c_tests bare "${bare[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CROSSCOMPILING_EMULATOR="valgrind;--quiet;--error-exitcode=99"

step "C tests: memory sanitizer, BloscLZ only"
selection=(--exclude-regex '^test_(bitflips|crash|faults)$')
c_tests msan "${bare[@]}" -DCMAKE_C_COMPILER=clang -DB2C_SANITIZE="memory;undefined" \
    -DB2C_SIMD=OFF

step "C tests: coverage of the parsers, gcc without optimisation"
selection=(--exclude-regex '^test_(bitflips|crash|faults|deflate)$')
find "$build" -path "$build/coverage/*" -name '*.gcda' -delete
c_tests coverage -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=--coverage
"$python" tools/coverage.py "$build/coverage"

step "C tests: 32-bit x86"
selection=(--exclude-regex '^test_(bitflips|crash|faults)$')
cross=(-DB2C_WITH_ZFP=OFF -DB2C_XXHASH_INCLUDE_DIR="$(cross_include)")
c_tests i686 -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/i686.cmake" "${cross[@]}"

step "C tests: 64-bit ARM in qemu (NEON)"
selection=(--exclude-regex "^($skipped|test_paths)\$") # paths beyond PATH_MAX are not qemu's
c_tests aarch64 -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" "${cross[@]}"

step "C tests: s390x in qemu (big-endian)"
c_tests s390x -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/s390x.cmake" "${cross[@]}"

step "C library: exports, installation, use by CMake and pkg-config"
installed_library

step "Python tests, with the installed wheel"
cd tests
extension=$("$python" -c '
import sys, blosc2c._b2c as b2c
assert b2c.__file__.startswith(sys.prefix), b2c.__file__
print(b2c.__file__)')
../tools/check_symbols.sh "$extension"
B2C_CRASH_STATES=$states "$python" -m pytest py -q | tee "../$build/pytest.log"
cd ..

step "Examples of the documents"
rm -f "$build/numbers.b2nd"
(cd "$build" && "$python" -m doctest ../../docs/python.md ../../docs/plugins.md ../../docs/package.md)
c_example
echo "all give what they say"

step "Benchmark"
"$python" bench/compare.py 32

printf '\nAll steps passed.  C: %s test runs in %s builds.  Python: %s\n' \
    "$c_passed" "$c_runs" "$(tail -n 1 "$build/pytest.log" | tr -d '=')"
