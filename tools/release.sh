#!/usr/bin/env bash
# Builds the files of a release from the last commit: for each target an archive, packages for Debian, RPM and pip, and
# once the recipes of package managers, the list of components, and the checksums. Two runs give the same bytes.
#
# usage: tools/release.sh [--quick] [--url URL] [--out DIR] [--with DIR] [TARGET...]
#   --quick     for a test of these files: only the archive, the wheel, the recipes and the checksums, of a program that
#               is compiled like that of the tests
#   --url URL   the address from which the files will be downloaded; it is written into the recipes
#   --out DIR   where the files are written, instead of target/release-files
#   --with DIR  a folder with archives of other systems, which become part of the release
#   TARGET      x86_64-unknown-linux-gnu, x86_64-unknown-linux-musl, aarch64-unknown-linux-gnu,
#               aarch64-unknown-linux-musl or, on macOS, aarch64-apple-darwin; all of this system by default
#
# It needs Rust, Python with pip and venv, and GNU tar. Other tools are installed below the target folder. Programs for
# Linux are linked by zig, so that they start from glibc 2.17 on, which every distribution since 2014 has.
set -euo pipefail
cd "$(dirname "$0")/.."

repository=$PWD
glibc=2.17 profile=release url='' targets=() out=$PWD/target/release-files work=$PWD/target/release-build others=
while [ $# -gt 0 ]; do
    case $1 in
        --quick) profile=dev; export CARGO_PROFILE_DEV_STRIP=true; shift ;;
        --url) url=${2%/}; shift 2 ;;
        --out) mkdir -p "$2"; out=$(cd "$2" && pwd); shift 2 ;;
        --with) others=$(cd "$2" && pwd); shift 2 ;;
        -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' tools/release.sh; exit ;;
        -*) printf 'error: unknown option %s\n' "$1" >&2; exit 2 ;;
        *) targets+=("$1"); shift ;;
    esac
done
# Optimized as one unit, the program is a quarter smaller. The linking takes too long for users who build from source.
[ "$profile" = dev ] || export CARGO_PROFILE_RELEASE_LTO=fat
system=$(uname -s)
if [ ${#targets[@]} = 0 ]; then
    case $system in
        Darwin) targets=(aarch64-apple-darwin) ;;
        *) targets=({x86_64,aarch64}-unknown-linux-{gnu,musl}) ;;
    esac
fi

step() { printf '\n== %s\n' "$*" >&2; "$@"; }
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
notice() { printf '\n== NOT BUILT: %s\n' "$1" >&2; }
tar=$(command -v gtar || command -v tar)
"$tar" --version | grep -q GNU || fail 'GNU tar is missing; on macOS, install the package gnu-tar'
sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
export SOURCE_DATE_EPOCH TESSERA_COMMIT=$commit
[ -z "$(git status --porcelain)" ] || notice "the changes that are not committed; the files are of the commit $commit"

# Installs the tools with the versions that are named here, and adds them to the path.
install_tools() {
    local python tools=$PWD/target/tools/release-cargo name pinned features
    python=$(tools/python_packages.sh release)
    # The tools read the environment of their Python from the path.
    export PATH="$tools/bin:$(dirname "$python"):$PATH"
    [ "$profile" = release ] || return 0
    for pinned in cargo-about@0.9.3 cargo-cyclonedx@0.5.9 cargo-deb@3.8.0 cargo-generate-rpm@0.21.1 mdbook@0.5.4; do
        name=${pinned%@*} features=
        [ "$name" != cargo-about ] || features=cli
        grep -qs "^\"$name ${pinned#*@} " "$tools/.crates.toml" \
            || step cargo install --quiet --locked --root "$tools" --features "$features" "$pinned"
    done
}

# Extracts the last commit, so that no file that is not committed gets into a release.
extract_source() {
    rm -rf "$work/source"
    mkdir -p "$work/source" "$out"
    [ -z "$(ls -A "$out")" ] || fail "$out is not empty; remove what is there first"
    [ -z "$others" ] || cp "$others"/*.tar.gz "$out"
    git archive "$commit" | tar -x -C "$work/source"
}

# Compiles the program for a target, and for Linux packs it as a wheel. The standard library of the target is downloaded.
compile() {
    local target=$1 tag
    if ! rustc --print target-libdir --target "$target" 2>/dev/null | xargs test -d; then
        rustup target add "$target" >&2 || return 3
    fi
    case $target in
        *-linux-gnu) tag=manylinux2014 ;;
        *-linux-musl) tag=musllinux_1_1 ;;
        *) step cargo build --quiet --profile "$profile" --locked --bin tessera --target "$target"; return ;;
    esac
    # The tag of the wheel decides which version of glibc zig links against.
    step maturin build --quiet --profile "$profile" --locked --zig --target "$target" --compatibility "$tag" --out "$out"
}

# Fails if a program needs a newer glibc than promised, or contains a path of this machine.
verify_program() {
    local program=$1 newest path
    # A program that is linked statically has no such symbols.
    newest=$({ objdump -T "$program" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' || true; } | sort -uV | tail -n 1)
    if [ -n "$newest" ] && [ "$(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -n 1)" != "GLIBC_$glibc" ]; then
        fail "$program needs $newest, but $glibc is promised"
    fi
    for path in "${CARGO_HOME:-$HOME/.cargo}" "$HOME/" "$work"; do
        ! grep -qaF "$path" "$program" || fail "$program contains the path $path"
    done
}

# Writes completions, manual pages and licenses, which are the same for all targets, with the program of this machine.
write_shared_files() {
    local program=$1 shared=$work/shared shell
    rm -rf "$shared"
    mkdir -p "$shared/completions" "$shared/man"
    "$program" completion bash > "$shared/completions/tessera.bash"
    "$program" completion zsh > "$shared/completions/_tessera"
    "$program" completion fish > "$shared/completions/tessera.fish"
    "$program" man --dir "$shared/man" >/dev/null
    cp README.md CHANGELOG.md LICENSE-* "$shared"
    [ "$profile" = release ] || return 0
    # Without the network, so that the list depends on nothing but the crates.
    step cargo about generate --frozen --fail --config packaging/about.toml --output-file "$shared/THIRD-PARTY.md" packaging/about.hbs
    # The packages take the files from here.
    mkdir -p target/shared && cp -R "$shared/." target/shared
    step cargo cyclonedx --quiet --format json --all-features --override-filename tessera-components
    # The list names crates of this repository by their folder, which is not a fact about the release.
    sed "s#file://$PWD#file:///tessera#g" tessera-components.json > "$out/tessera-$version-components.cdx.json"
    find . -name tessera-components.json -delete
}

# Writes a folder as an archive whose bytes depend only on the files.
pack() {
    local parent=$1 name=$2
    "$tar" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' \
        -C "$parent" -cf - "$name" | gzip -n -9 > "$out/$name.tar.gz"
}

write_archive() {
    local target=$1 program=$2 name=tessera-$version-$1
    rm -rf "${work:?}/$name"
    cp -R "$work/shared" "$work/$name"
    install -m 755 "$program" "$work/$name/tessera"
    pack "$work" "$name"
}

# Builds the packages of the distributions, which contain the same program.
write_packages() {
    local target=$1
    case $target in *-linux-gnu) ;; *) return 0 ;; esac
    step cargo deb --quiet --locked --no-build --no-strip --target "$target" --output "$out/"
    # Older versions of rpm know no newer compression.
    step cargo generate-rpm --target "$target" --source-date "$SOURCE_DATE_EPOCH" --payload-compress gzip --output "$out/"
}

# Fills in the version, the address and the checksums of the archives.
write_recipes() {
    local recipe text target sum homepage=${url:-https://example.org}
    # Forges offer the files of a release below the page of the repository.
    homepage=${homepage%/releases/download/*}
    [ -n "$url" ] || notice 'recipes with an address; without --url they name https://example.org'
    for recipe in packaging/recipes/*; do
        text=$(cat "$recipe")
        text=${text//@VERSION@/$version}
        text=${text//@URL@/${url:-https://example.org}}
        text=${text//@HOMEPAGE@/$homepage}
        text=${text//@MANUAL@/$(cd "$work/shared/man" && echo *.1)}
        for target in {x86_64,aarch64}-{unknown-linux-gnu,unknown-linux-musl,apple-darwin}; do
            [[ $text == *@SHA256:$target@* ]] || continue
            sum=missing
            if [ -e "$out/tessera-$version-$target.tar.gz" ]; then
                sum=$(sha256 "$out/tessera-$version-$target.tar.gz" | cut -d ' ' -f 1)
            else
                notice "the checksum of $target in $(basename "$recipe"), because this run built no archive for it"
            fi
            text=${text//@SHA256:$target@/$sum}
        done
        printf '%s\n' "$text" > "$out/$(basename "$recipe")"
    done
}

# Builds the documentation as a small site from the same files.
write_site() {
    local pages=$work/site/pages name=tessera-$version-site file
    rm -rf "$work/site"
    # Files that pages link to are copied, but not the programs beside them.
    git -C "$repository" ls-files '*.md' ':!tests' '*.sql' 'assets/screens/*' assets/keymap.toml '*LICENSE*' | while read -r file; do
        mkdir -p "$pages/$(dirname "$file")"
        cp "$file" "$pages/$file"
    done
    cp packaging/site/book.toml "$work/site"
    cp packaging/site/SUMMARY.md "$pages"
    step mdbook build --dest-dir "$work/site/$name" "$work/site"
    step python3 tools/check_links.py "$work/site/$name"
    pack "$work/site" "$name"
}

install_tools
extract_source
export CARGO_TARGET_DIR=$work/source/target
cd "$work/source"
host=$(rustc -vV | sed -n 's/^host: //p')
# Cargo's folder for the profile `dev` has another name.
profile_folder=${profile/dev/debug}
built=()
for target in "${targets[@]}"; do
    code=0
    compile "$target" || code=$?
    [ "$code" != 3 ] || { notice "$target, because its standard library cannot be downloaded; the workflow builds it"; continue; }
    [ "$code" = 0 ] || exit "$code"
    verify_program "$CARGO_TARGET_DIR/$target/$profile_folder/tessera"
    built+=("$target")
done
[ ${#built[@]} != 0 ] || fail 'no target was built'
for target in "${built[@]}"; do
    # Programs of this architecture run here, whichever library they use.
    [ "${target%%-*}" != "${host%%-*}" ] || runnable=$target
done
[ -n "${runnable:-}" ] || fail "the completions need a program that runs here: add a target for ${host%%-*}"
write_shared_files "$CARGO_TARGET_DIR/$runnable/$profile_folder/tessera"
for target in "${built[@]}"; do
    write_archive "$target" "$CARGO_TARGET_DIR/$target/$profile_folder/tessera"
    [ "$profile" != release ] || write_packages "$target"
done
write_recipes
[ "$profile" != release ] || write_site
(cd "$out" && sha256 -- * > SHA256SUMS.part && mv SHA256SUMS.part SHA256SUMS && cat SHA256SUMS)
