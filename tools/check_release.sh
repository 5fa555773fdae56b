#!/usr/bin/env bash
# Tests the files of a release in systems that have nothing else: an old distribution, a folder with only the C library,
# and an empty folder for the program that is linked statically. It needs root, debootstrap and Python.
#
# usage: tools/check_release.sh DIR
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
files=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'umount "$work"/*/proc 2>/dev/null || true; rm -rf "$work"' EXIT

step() { printf '\n== %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
missing() { printf '\n== NOT CHECKED: %s\n' "$1" >&2; }
machine=$(uname -m)
archive_of() { ls "$files"/tessera-*-"$machine-unknown-linux-$1.tar.gz"; }

# Makes what every system has: devices, a folder for temporary files, a user, and some pictures.
furnish() {
    local root=$1 name kind number
    mkdir -p "$root"/{dev,tmp,proc,etc,home/user/pictures}
    while read -r name kind number; do
        [ -e "$root/dev/$name" ] || mknod -m 666 "$root/dev/$name" c "$kind" "$number"
    done <<< $'null 1 3\nrandom 1 8\nurandom 1 9\ntty 5 0'
    chmod 1777 "$root/tmp"
    cp "$repository"/assets/screens/*.png "$root/home/user/pictures"
    chown -R 10001:10001 "$root/home/user"
}

# Runs a command as a user in a system.
within() {
    local root=$1
    shift
    chroot --userspec 10001:10001 "$root" /usr/bin/env -i HOME=/home/user PATH=/home/user/.local/bin:/usr/bin:/bin TERM=xterm "$@"
}

# `env` is not there in a system without programs.
alone() {
    local root=$1
    shift
    env -i HOME=/home/user TERM=xterm /usr/sbin/chroot --userspec 10001:10001 "$root" "$@"
}

# Indexes, searches, exports, serves and opens the pictures with a program.
use() {
    local run=$1 root=$2 program=$3 found line address server
    "$run" "$root" "$program" version >/dev/null || fail "$program does not start"
    found=$("$run" "$root" "$program" demo --images 60 </dev/null)
    [[ $found == *'CLUSTERS'* ]] || fail 'the tour has no clusters'
    found=$("$run" "$root" "$program" --folder /home/user/pictures search browse --flat --all --json)
    for picture in "$repository"/assets/screens/*.png; do
        [[ $found == *"$(basename "$picture")"* ]] || fail "the search did not find $(basename "$picture")"
    done
    "$run" "$root" "$program" --folder /home/user/pictures export start --format coco --images \
        --download /home/user --name exported --quiet >/dev/null
    python3 -m zipfile -t "$root/home/user/exported.zip" >/dev/null || fail 'the export is not an archive'
    coproc "$run" "$root" "$program" serve /home/user/pictures --no-auth --listen 127.0.0.1:0
    server=$COPROC_PID
    read -r line <&"${COPROC[0]}" || fail 'the service did not start'
    address=$(sed 's/.*"base_url":"\([^"]*\)".*/\1/' <<< "$line")
    "$run" "$root" "$program" --base-url "$address" --kind onprem dataset list --json | grep -q pictures \
        || fail 'the service has no dataset'
    # The coprocess is a shell, and the service is its only child.
    kill "$(cat "/proc/$server/task/$server/children")"
    wait "$server" || true
    python3 "$repository/tools/press_keys.py" pictures q -- "$(command -v bash)" -c \
        "$(declare -f "$run"); $run '$root' '$program' open /home/user/pictures" || fail 'the interface did not open'
}

# Starts the service as its container does: with the user, the variables, the command and the check of health that the
# recipe names, and with nothing but the program and empty folders.
check_container() {
    local root=$1 recipe=$files/Containerfile port server line health start
    mkdir -p "$root"/{data,photos,tmp}
    cp "$repository"/assets/screens/*.png "$root/photos"
    tar -xzf "$(archive_of musl)" -C "$root" --strip-components 1
    chown 10001:10001 "$root/data" "$root/tmp"
    stated() { sed -n "s/^$1 //p" "$recipe"; }
    words() { stated "$1" | python3 -c 'import json, sys; print(*json.load(sys.stdin))'; }
    inside() { env -i $(stated ENV) /usr/sbin/chroot --userspec "$(stated USER)" "$root" "$@"; }
    # The port of the recipe may be in use on this machine.
    port=$(python3 -c 'import socket; free = socket.create_server(("127.0.0.1", 0)); print(free.getsockname()[1])')
    start="$(words ENTRYPOINT) $(words CMD)" health=$(words ' \+CMD')
    coproc inside ${start//8080/$port}
    server=$COPROC_PID
    read -r line <&"${COPROC[0]}" || fail 'the service of the container did not start'
    [[ $line == *'"display_name":"photos"'* ]] || fail 'the container does not serve its folder'
    inside ${health//8080/$port} >/dev/null || fail 'the container is not healthy'
    kill "$(cat "/proc/$server/task/$server/children")"
    wait "$server" || true
    ! inside ${health//8080/$port} >/dev/null 2>&1 || fail 'a container without a service is healthy'
}

# Builds the image with a container engine, and runs it. Everything that the engine stores is in a folder of its own.
# Clients reach the service from another address than the check of health, which runs inside.
check_image() {
    local root=$1 context=$1/context runtime=() container
    mkdir -p "$context" "$root/photos"
    cp "$files/Containerfile" "$(archive_of musl)" "$context"
    cp "$repository"/assets/screens/*.png "$root/photos"
    # The usual runtime refuses a system with control groups of both versions.
    [ ! -d /sys/fs/cgroup/unified ] || runtime=(--runtime runc)
    engine() { podman --root "$root/storage" --runroot "$root/run" --storage-driver vfs "${runtime[@]}" "$@"; }
    # The registry may be out of reach, and every system with certificates can unpack the archive.
    mkdir -p "$old/etc/ssl/certs"
    cp /etc/ssl/certs/ca-certificates.crt "$old/etc/ssl/certs"
    tar -C "$old" --exclude ./proc --exclude ./release -c . \
        | engine import - "$(sed -n 's/^FROM \(.*\) AS files$/\1/p' "$files/Containerfile")" >&2
    engine build --pull=never --network none --format docker --tag tessera "$context" >&2
    # The engine would otherwise raise the limits of the container, which a system with limits of its own refuses.
    container=$(engine run --detach --publish 127.0.0.1::8080 --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --volume "$root/photos:/photos:ro" tessera)
    # The engine runs the check of health itself only with systemd.
    for _ in $(seq 50); do
        ! engine healthcheck run "$container" >/dev/null 2>&1 || break
        sleep 0.2
    done
    engine healthcheck run "$container" >/dev/null || fail 'the container of the image is not healthy'
    python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' \
        "http://$(engine port "$container" 8080/tcp)/api/v1/openapi.json" || fail 'the published port of the image is refused'
    engine logs "$container" 2>&1 | grep -q '"display_name":"photos"' || fail 'the image does not serve its folder'
    [ "$(engine inspect --format '{{.Config.User}}' "$container")" = 10001:10001 ] || fail 'the image runs as root'
    engine stop --time 20 "$container" >/dev/null
    [ "$(engine inspect --format '{{.State.ExitCode}}' "$container")" = 0 ] || fail 'the container was not stopped properly'
    engine rm --volumes "$container" >/dev/null
}

# Installs with the script, uses the program, and removes it. Nothing of it may stay.
install_and_remove() {
    local root=$1 before after
    mkdir -p "$root/release"
    cp "$files"/* "$root/release"
    before=$(cd "$root" && find . -path ./proc -prune -o -print | sort)
    within "$root" TESSERA_URL=/release /bin/sh /release/install.sh
    use within "$root" /home/user/.local/bin/tessera
    within "$root" /bin/sh /release/install.sh uninstall
    rm -rf "$root"/home/user/{.config,.local/state,.local/share/tessera,.cache,exported.zip}
    # The data of the program was in these folders.
    rmdir "$root"/home/user/.local/share "$root/home/user/.local" 2>/dev/null || true
    after=$(cd "$root" && find . -path ./proc -prune -o -print | sort)
    diff <(echo "$before") <(echo "$after") || fail 'something is left after the uninstallation'
}

# Installs the oldest distribution that can still be downloaded.
install_distribution() {
    local root=$1 name mirror
    while read -r name mirror; do
        rm -rf "$root"
        debootstrap --variant=minbase --no-check-gpg "$name" "$root" "$mirror" >"$work/log" 2>&1 && return
    done <<< $'xenial http://archive.ubuntu.com/ubuntu\nbullseye http://deb.debian.org/debian'
    tail "$work/log" >&2
    fail 'no old distribution can be installed'
}

step 'an old distribution (Ubuntu 16.04 with glibc 2.23, else Debian 11): install.sh, and the package for Debian'
old=$work/old
install_distribution "$old"
furnish "$old"
install_and_remove "$old"
package=$(find "$files" -name "tessera-tui_*.deb" | grep "_$(chroot "$old" /usr/bin/dpkg --print-architecture)\.deb" || true)
if [ -n "$package" ]; then
    chroot "$old" /usr/bin/dpkg --install "/release/$(basename "$package")" >&2
    use within "$old" /usr/bin/tessera
    [ -s "$old/usr/share/man/man1/tessera.1" ] || [ -s "$old/usr/share/man/man1/tessera.1.gz" ] || fail 'the package has no manual'
    chroot "$old" /usr/bin/dpkg --purge tessera-tui >&2
    ! chroot "$old" /usr/bin/env which tessera || fail 'the package was not removed'
else
    missing 'the package for Debian, because these files have none'
fi

step 'a system with only the C library'
bare=$work/bare
furnish "$bare"
mkdir "$bare/lib"
ln -s lib "$bare/lib64"
tar -xzf "$(archive_of gnu)" -C "$bare" --strip-components 1
for library in $(objdump -p "$bare/tessera" | sed -n 's/.*NEEDED *//p') ld-linux-x86-64.so.2; do
    path=$(find "$old/lib" "$old/lib64" -name "$library" | head -n 1)
    [ -n "$path" ] || fail "$library is not a part of the C library"
    cp -L "$path" "$bare/lib"
done
use alone "$bare" /tessera

step 'an empty system, with the program that is linked statically'
if [ -e "$files"/tessera-*-"$machine-unknown-linux-musl.tar.gz" ]; then
    empty=$work/empty
    furnish "$empty"
    tar -xzf "$(archive_of musl)" -C "$empty" --strip-components 1
    use alone "$empty" /tessera
    check_container "$work/container"
    if command -v podman >/dev/null; then
        step 'the image in a container engine'
        check_image "$work/image"
    else
        missing 'the image in a container engine, because podman is missing'
    fi
else
    missing 'the static program, because these files have none'
fi

step 'the wheel'
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --no-index --no-deps "$files"/tessera_tui-*manylinux*_"$machine".whl
"$work/python/bin/tessera" version >/dev/null
"$work/python/bin/python" -c 'import tessera_tui'

step 'the package for RPM'
if ! ls "$files"/tessera-tui-*."$machine".rpm >/dev/null 2>&1; then
    missing 'the package for RPM, because these files have none'
elif command -v rpm >/dev/null; then
    mkdir "$work/rpm"
    rpm --root "$work/rpm" --initdb
    rpm --root "$work/rpm" --install --nodeps --ignorearch "$files"/tessera-tui-*."$machine".rpm
    "$work/rpm/usr/bin/tessera" version >/dev/null
    rpm --root "$work/rpm" --erase tessera-tui
    [ ! -e "$work/rpm/usr/bin/tessera" ] || fail 'the package was not removed'
else
    missing 'the package for RPM, because rpm is missing'
fi

step 'the checksums'
(cd "$files" && sha256sum --check --quiet SHA256SUMS)
echo 'The release starts, works and goes.'
