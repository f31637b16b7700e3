#!/usr/bin/env bash
# The commands of the README, from nothing but a checkout:
#   ./bootstrap.sh run    installs what is missing, builds, and runs the main job
#   ./bootstrap.sh lesson [NAME]   the same, and serves a lesson (memory-wall) at the address that it prints
#   ./bootstrap.sh wheel  the same for Python: builds build/wheel/orrery-*.whl, which needs no other package
#   ./bootstrap.sh package   builds the Debian package build/package/orrery_*.deb
#   ./bootstrap.sh test   the same, and runs every test (gcc; clang with sanitizers, where WHOLE=1
#                         repeats the long ones too; the fuzzers; BARE=FOLDER of a bare Debian, as root: the
#                         package there)
# Each may be repeated at once; a second call only does what is left to do.
set -euo pipefail
cd "$(dirname "$0")"

run_packages=(gcc cmake ninja-build pkg-config libc6-dev libgsl-dev libuv1-dev libsqlite3-dev
    libyaml-dev libjansson-dev zlib1g-dev sqlite3)
wheel_packages=(python3 binutils)
package_packages=(scdoc dpkg-dev file)
test_packages=("${wheel_packages[@]}" "${package_packages[@]}" clang libclang-rt-14-dev clang-format libcmocka-dev bats gawk
    jq python3-jsonschema python3-yaml python3-venv groff-base libopenmpi-dev openmpi-bin)

# The page of `orrery replay`: built by Node, served by libwebsockets, tested in Chromium. Node and npm that are there already
# (from elsewhere than Debian, too) are taken.
run_packages+=(libwebsockets-dev libwebsockets-evlib-uv)
command -v node >/dev/null || run_packages+=(nodejs)
command -v npm >/dev/null || run_packages+=(npm)
test_packages+=(chromium)

say() { printf 'bootstrap: %s (after %s s)\n' "$*" "$SECONDS" >&2; }

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

install_missing() {
    local missing=() package
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "this is no Debian-like system, so nothing is installed; needed are: $*"
        return 0
    fi
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "every package is there"
        return 0
    fi
    say "installing: ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            say "these packages are missing and you are not root: ${missing[*]}"
            exit 1
        }
        as_root=(sudo)
    fi
    export DEBIAN_FRONTEND=noninteractive
    "${as_root[@]}" apt-get update -q >&2 || say "the package lists could not be refreshed"
    "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 || {
        say "the packages could not be installed; install them by hand and call this again"
        exit 1
    }
}

build() { # preset, targets (all)
    local preset=$1
    shift
    say "building preset $preset"
    [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >&2
    cmake --build --preset "$preset" ${1:+--target "$@"} >&2
}

run_tests() { # preset, ctest arguments
    local preset=$1
    shift
    say "testing preset $preset"
    ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
}

# What needs one processor runs beside what follows; its words come when it is waited for.
beside() { # name, commands...
    name_beside=$1
    words_beside=$(mktemp)
    say "$name_beside, meanwhile"
    set -m # a group of its own, which ends with this script
    "${@:2}" >"$words_beside" 2>&1 &
    set +m
    beside=$!
    trap 'kill -- "-$beside" 2>/dev/null || true' EXIT
}
wait_beside() {
    local code=0
    wait "$beside" || code=$?
    cat "$words_beside"
    rm -f "$words_beside"
    trap - EXIT
    say "$name_beside: exit code $code"
    return "$code"
}
installed_bare() { # where there is a bare Debian to install on
    [ -z "${BARE:-}" ] || { rm -f build/package/*.deb && build package && tests/package build/package/orrery_*.deb "$BARE"; }
}
as_users_do() {
    build wheel && tests/analysis/python/check build/wheel/orrery-*.whl &&
        tests/headlines build/release/analysis/orrery && tests/readme build/release && tests/adding build &&
        installed_bare
}

case "${1:-}" in
run)
    install_missing "${run_packages[@]}"
    [ -f build/release/build.ninja ] || cmake --preset release -DORRERY_TESTS=OFF >&2
    build release
    say "running the main job: scenarios/llama3-70b-64xh100.yaml"
    exec build/release/analysis/orrery run scenarios/llama3-70b-64xh100.yaml
    ;;
lesson)
    install_missing "${run_packages[@]}"
    [ -f build/release/build.ninja ] || cmake --preset release -DORRERY_TESTS=OFF >&2
    build release orrery
    exec build/release/analysis/orrery lesson "${2:-memory-wall}" --replay
    ;;
wheel)
    install_missing "${run_packages[@]}" "${wheel_packages[@]}"
    build wheel
    say "built: $(ls build/wheel/orrery-*.whl)"
    ;;
package)
    install_missing "${run_packages[@]}" "${package_packages[@]}"
    build package
    say "built: $(ls build/package/orrery_*.deb)"
    ;;
test)
    install_missing "${run_packages[@]}" "${test_packages[@]}"
    say "style"
    tests/tidy
    # A build folder made by `run` has no tests yet.
    cmake --preset release -DORRERY_TESTS=ON -DORRERY_WERROR=ON >&2
    build release
    run_tests release
    beside "the wheel, every headline, every command of the README, the page on adding" as_users_do
    # Once more by clang with sanitizers, which look for more than gcc's and whose build the fuzzers
    # need anyway. What repeats the same lines often (label `release`) is left out, unless WHOLE is set.
    build fuzz
    run_tests fuzz -LE "slow|statistics$([ -n "${WHOLE:-}" ] || echo '|release')"
    wait_beside
    build tsan orrery test_determinism tests_of_threads
    run_tests tsan -L threads
    beside "the same digests by gcc and clang, with and without optimisation" \
        tests/laws/digest build/release build/fuzz build/tsan
    say "fuzzing for ${FUZZ_SECONDS:-16} s"
    tests/fuzz/run build/fuzz "${FUZZ_SECONDS:-16}"
    wait_beside
    say "all tests passed"
    ;;
*) usage ;;
esac
