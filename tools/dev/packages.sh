# SPDX-License-Identifier: MIT
# Debian packages, for the scripts that source this file. Package names are those of Debian 12.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by the scripts that source this file
build_packages=(cmake ninja-build g++ libboost-program-options-dev libboost-dev libfmt-dev libhwy-dev
  libsqlite3-dev libsqlitecpp-dev nlohmann-json3-dev)
# shellcheck disable=SC2034
test_packages=(clang clang-format-14 libboost-test-dev libclang-rt-14-dev pkg-config python3 shellcheck)

# Installs those of its arguments that are missing. Quick and silent when none is.
install_packages() {
  if ! command -v apt-get >/dev/null; then
    echo "note: this is not Debian; needed from your distribution: $*" >&2
    return
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
    command -v sudo >/dev/null ||
      { echo "error: run this as root or with sudo installed; missing packages: ${missing[*]}" >&2 && return 1; }
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
