#===- setup.sh - what demo and test share: packages, configure, build ----------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------------===#
# Sourced, not run. Gives $root, $build, and the functions
#   tilec_install_packages   installs what is missing from Debian's packages
#   tilec_build TARGET…      configures once, then builds
# Both return at once when there is nothing to do.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${TILEC_BUILD_DIR:-$root/build}

# Everything the build and the tests need on a bare Debian 12.
tilec_packages=(
  ca-certificates git g++ cmake ninja-build python3 ccache
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libzstd-dev zlib1g-dev libgtest-dev libgmock-dev nlohmann-json3-dev libmpfr-dev
)

tilec_install_packages() {
  local missing=() package
  for package in "${tilec_packages[@]}"; do
    dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
    echo "error: these packages are missing and installing them needs root: ${missing[*]}" >&2
    return 3
  fi
  echo "installing, which may take minutes: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { $sudo apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    echo "error: packages are missing; LLVM 22 is in Debian 12's updates (bookworm-security)" >&2
    return 3
  fi
  rm -f "$log"
}

tilec_build() {
  if [ ! -f "$build/build.ninja" ]; then
    echo "configuring, then building in $build; the first time takes minutes"
    mkdir -p "$build"
    cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release ${TILEC_CMAKE_ARGS:-} >"$build/configure.log" 2>&1 || {
      cat "$build/configure.log" >&2
      return 1
    }
  fi
  ninja -C "$build" "$@"
}
