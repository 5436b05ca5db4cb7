#!/usr/bin/env bash
# Builds the wasm32 standard library from Debian's package of Rust's own source, for machines where
# rustup cannot fetch the target. The source must be of exactly the release that is installed,
# since compiler and standard library only fit together as one. Needs root, apt and a rustup
# toolchain; changes nothing of the machine's apt set-up.
set -euo pipefail
target=wasm32-unknown-unknown
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

rustc=$(rustup which rustc)
cargo=$(rustup which cargo)
release=$("$rustc" -vV | sed -n 's/^release: //p')
commit=$("$rustc" -vV | sed -n 's/^commit-hash: //p')
libdir=$("$rustc" --print sysroot)/lib/rustlib/$target/lib

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBIAN_FRONTEND=noninteractive

# The mirror is whichever one the machine already uses. Without package lists apt names none.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
    awk '/\/debian\/$/ && !found { found = $0 } END { print found }'
}
uri=$(mirror)
if [ -z "$uri" ]; then
  apt-get update -qq
  uri=$(mirror)
fi
[ -n "$uri" ] || { echo "no Debian mirror among this machine's apt sources" >&2; exit 1; }

# A private apt state lets us ask other suites of that mirror.
mkdir -p "$work"/{lists/partial,cache/archives/partial}
apt_private=(
  -o "Dir::Etc::sourcelist=$work/sources.list"
  -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/lists"
  -o "Dir::Cache=$work/cache"
  -o APT::Sandbox::User=root
  -o Acquire::Languages=none
  -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
)
version=
for suite in trixie-backports forky sid trixie bookworm-backports; do
  echo "looking for rust-src $release in $suite"
  echo "deb [signed-by=$keyring] $uri $suite main" > "$work/sources.list"
  apt-get "${apt_private[@]}" update -qq 2>/dev/null || continue
  version=$(apt-cache "${apt_private[@]}" madison rust-src |
    awk -F'|' '{ gsub(/ /, "", $2); print $2 }' | grep -m1 "^${release//./\\.}+" || true)
  [ -z "$version" ] || break
done
[ -n "$version" ] || { echo "Debian has no rust-src of release $release" >&2; exit 1; }

echo "fetching rust-src $version"
cd "$work"
apt-get "${apt_private[@]}" download -qq "rust-src=$version"
dpkg-deb --fsys-tarfile rust-src_*.deb | tar -x --wildcards './usr/src/*/library/*'
library=$(echo "$work"/usr/src/rustc-*/library)

# Profile, features and flags are those of the Rust project's own bootstrap, less debug info.
echo "compiling the standard library of $release for $target"
flags="-Zforce-unstable-if-unmarked --remap-path-prefix=$library=/rustc/$commit/library"
env -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET \
  RUSTC="$rustc" RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags" \
  CARGO_TARGET_DIR="$work/out" CARGO_INCREMENTAL=0 CARGO_PROFILE_DIST_DEBUG=0 \
  __CARGO_DEFAULT_LIB_METADATA=wasmstd \
  "$cargo" build -q --manifest-path "$library/sysroot/Cargo.toml" \
  --target $target --profile dist --locked

rm -rf "$libdir"
mkdir -p "$libdir"
cp "$work/out/$target"/dist/deps/lib*.rlib "$libdir"/
# The crate `sysroot` only ties the others together; rustc wants none of that name.
rm -f "$libdir"/libsysroot-*.rlib
# The mark carries the commit: after an update of rustc these files no longer fit.
touch "$libdir/.complete-$commit"
echo "standard library for $target is in place"
