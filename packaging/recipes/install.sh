#!/bin/sh
# Installs tessera @VERSION@ for the user who runs this, without root: the program, its manual, and completions. The
# checksum of the archive is verified. Nothing else is changed, and nothing is sent anywhere.
#
#   sh install.sh                 installs below ~/.local
#   PREFIX=/usr/local sh install.sh
#   sh install.sh uninstall       removes the same files
#
# TESSERA_URL takes the archive from another address, or from a folder.
set -eu
umask 022

version=@VERSION@
url=${TESSERA_URL:-@URL@}
prefix=${PREFIX:-${HOME:?HOME is not set, so set PREFIX}/.local}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }

# Prints a word as a shell reads it.
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

# Programs that are linked with musl start on every distribution. Those for glibc allocate memory faster.
target() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64 | Linux-amd64) machine=x86_64 ;;
        Linux-aarch64 | Linux-arm64) machine=aarch64 ;;
        Darwin-arm64) echo aarch64-apple-darwin; return ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build tessera from its source" ;;
    esac
    # The first line is `ldd (…) 2.31` with glibc. ldd of musl has no such line.
    glibc=$(ldd --version 2>/dev/null | sed -n '1s/^ldd (.*) 2\.\([0-9]*\).*/\1/p') || glibc=
    if [ "${glibc:-0}" -ge 17 ]; then echo "$machine-unknown-linux-gnu"; else echo "$machine-unknown-linux-musl"; fi
}

checksum() {
    case $1 in
        x86_64-unknown-linux-gnu) echo @SHA256:x86_64-unknown-linux-gnu@ ;;
        x86_64-unknown-linux-musl) echo @SHA256:x86_64-unknown-linux-musl@ ;;
        aarch64-unknown-linux-gnu) echo @SHA256:aarch64-unknown-linux-gnu@ ;;
        aarch64-unknown-linux-musl) echo @SHA256:aarch64-unknown-linux-musl@ ;;
        aarch64-apple-darwin) echo @SHA256:aarch64-apple-darwin@ ;;
    esac
}

sha256() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

fetch() {
    case $url in
        http://* | https://*)
            if command -v curl >/dev/null 2>&1; then curl --fail --silent --show-error --location --output "$2" "$url/$1"
            elif command -v wget >/dev/null 2>&1; then wget -q -O "$2" "$url/$1"
            else fail 'curl or wget is needed to download the archive'; fi ;;
        *) cp "$url/$1" "$2" ;;
    esac || fail "$url/$1 cannot be read"
}

# Prints each file of the archive, and where it is installed.
installed_files() {
    echo "tessera bin/tessera"
    echo "completions/tessera.bash share/bash-completion/completions/tessera"
    echo "completions/_tessera share/zsh/site-functions/_tessera"
    echo "completions/tessera.fish share/fish/vendor_completions.d/tessera.fish"
    for page in @MANUAL@; do echo "man/$page share/man/man1/$page"; done
}

uninstall() {
    found=$(installed_files | while read -r _ file; do [ ! -e "$prefix/$file" ] || echo "$file"; done)
    # An installation that was killed leaves a new file.
    installed_files | while read -r _ file; do rm -f "$prefix/$file" "$prefix/$file.new"; done
    # Only folders that are empty are removed.
    for folder in share/bash-completion/completions share/bash-completion share/zsh/site-functions share/zsh \
        share/fish/vendor_completions.d share/fish share/man/man1 share/man share bin; do
        rmdir "$prefix/$folder" 2>/dev/null || true
    done
    [ "$prefix" != "${HOME:-}/.local" ] || rmdir "$prefix" 2>/dev/null || true
    [ -n "$found" ] || fail "tessera is not installed in $prefix; set PREFIX to the folder that the installation named"
    echo "tessera was removed from $prefix. Settings, jobs, indexes and thumbnails are still in ~/.config/tessera,"
    echo "~/.local/state/tessera, ~/.local/share/tessera and ~/.cache/tessera."
}

install() {
    target=$(target)
    expected=$(checksum "$target")
    [ "${#expected}" = 64 ] || fail "this release has no archive for $target; build tessera from its source"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    name=tessera-$version-$target
    fetch "$name.tar.gz" "$work/archive.tar.gz"
    actual=$(sha256 "$work/archive.tar.gz")
    [ "$actual" = "$expected" ] || fail "the checksum of $name.tar.gz is $actual, but $expected is expected; nothing was installed"
    tar -xzf "$work/archive.tar.gz" -C "$work"
    "$work/$name/tessera" version >/dev/null \
        || fail "the program of $target does not start in $work (if no program may start there, set TMPDIR); nothing was installed"
    installed_files | while read -r from to; do
        mkdir -p "$(dirname "$prefix/$to")"
        # A program that is running is replaced, not overwritten.
        cp "$work/$name/$from" "$prefix/$to.new" && mv -f "$prefix/$to.new" "$prefix/$to" \
            || { rm -f "$prefix/$to.new"; fail "$prefix/$to cannot be written"; }
    done
    echo "tessera $version is in $prefix/bin. Remove it with: PREFIX=$(quoted "$prefix") sh install.sh uninstall"
    case :$PATH: in *:"$prefix/bin":*) ;; *) echo "Add $prefix/bin to PATH to start it as tessera." ;; esac
    case $prefix:${SHELL:-} in
        # zsh searches these prefixes anyway.
        /usr:* | /usr/local:*) ;;
        *:*/zsh) echo "For completion, add to ~/.zshrc before compinit: fpath=($(quoted "$prefix/share/zsh/site-functions") \$fpath)" ;;
    esac
}

case ${1:-install} in
    install) install ;;
    uninstall) uninstall ;;
    *) fail "unknown argument $1; use install or uninstall" ;;
esac
