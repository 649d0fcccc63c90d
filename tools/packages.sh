# Sourced by setup.sh and test.sh: install what the system lacks.
# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause

fail()
{
    printf '\n%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# need_packages package…: Debian or Ubuntu packages; as root, or through sudo.
need_packages()
{
    command -v apt-get >/dev/null ||
        fail "this is neither Debian nor Ubuntu; please install what these packages hold: $*"
    lacking=
    for package; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
        [ "$state" = installed ] || lacking="$lacking $package"
    done
    [ -n "$lacking" ] || return 0
    printf 'Installing:%s\n' "$lacking"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "these packages need root or sudo:$lacking"
        as_root=sudo
    fi
    $as_root apt-get update -q
    # shellcheck disable=SC2086  # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $lacking
}
