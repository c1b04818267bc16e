# SPDX-License-Identifier: MIT
# What tools/quickstart and tools/test share: Debian packages and the build. Source it; package names are Debian 12's.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by the scripts that source this file
build_packages=(cmake ninja-build g++ libboost-dev libboost-program-options-dev libfmt-dev libhwy-dev
  libsqlite3-dev libsqlitecpp-dev nlohmann-json3-dev)
# shellcheck disable=SC2034
test_packages=(chromium clang clang-format-14 doxygen fonts-dejavu-core libboost-test-dev libclang-rt-14-dev openmpi-bin
  pkg-config python3 scdoc shellcheck)
# shellcheck disable=SC2034
full_test_packages=(debootstrap lintian)
# shellcheck disable=SC2034
package_packages=(dpkg-dev file scdoc)
# shellcheck disable=SC2034
hip_packages=(libamdhip64-dev)  # of use where there is nvcc
# Code for AMD GPUs, compiled and executed without one.
# shellcheck disable=SC2034
amdgcn_packages=(clang-22 clang-tools-22 libamdhip64-dev lld-22 llvm-22 rocm-device-libs)

# Whether CMake will find nvcc.
has_nvcc() {
  [[ -x ${CUDA_PATH:-/usr/local/cuda}/bin/nvcc ]] || command -v nvcc >/dev/null
}

# Installs those of its arguments that are missing. Quick and silent when none is.
install_packages() {
  if ! command -v apt-get >/dev/null; then
    echo "note: no apt-get here; needed under the names of your distribution: $*" >&2
    return 0
  fi
  local missing=() package
  for package in "$@"; do
    if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  ((${#missing[@]} > 0)) || return 0

  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "error: missing packages and neither root nor sudo: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# build FOLDER TARGET [CMAKE OPTION...]: configures and builds; a second call compiles what changed.
build() {
  local folder=$1 target=$2
  shift 2
  local launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -S . -B "$folder" -G Ninja --log-level=WARNING "${launcher[@]}" "$@"
  NINJA_STATUS='[%f/%t %es] ' cmake --build "$folder" --target "$target"
}

# heading TEXT: with the seconds since the script began.
heading() {
  printf '\n==> %s  [%d s]\n' "$1" "$SECONDS"
}
