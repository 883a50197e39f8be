#!/bin/sh
# The guests of a test: a VM is a folder, and a volume is a file that grows as the service says, with a file system of
# its own. What is mounted is seen in the mount namespace of one process, and goes with it.
#   guest-disk.sh KEEPER-PID BINARIES PORT attach|flush
set -eu
if [ "$#" = 4 ]; then exec nsenter --mount --target "$1" sh "$0" inside "$@"; fi
bin=$3 port=$4 here=$(dirname "$0")
postgres() { (cd / && setpriv --reuid nobody --regid nogroup --clear-groups env LC_ALL=C "$@"); }

if [ "$5" = flush ]; then
  at=$(cat "$here/mounted")
  postgres "$bin/pg_ctl" --pgdata "$at/cluster" --wait --mode fast stop
  # The server has ended its work by then, and its process ends a moment later.
  until umount "$at" || ! mountpoint --quiet "$at"; do sleep 0.1; done
  exit 0
fi

disk=$here/$RECONCILE_VOLUME_ID.img at=$here/$RECONCILE_VM_ID
truncate --size "$((RECONCILE_VOLUME_SIZE * 128))M" "$disk"
blkid "$disk" >/dev/null || mkfs.ext4 -q "$disk"
mkdir -p "$at"
mountpoint --quiet "$at" || { e2fsck -f -p "$disk"; resize2fs "$disk"; mount -o loop "$disk" "$at"; }
chown nobody "$at"
[ -e "$at/cluster/PG_VERSION" ] ||
  postgres "$bin/initdb" --pgdata "$at/cluster" --username reconcile --auth trust --wal-segsize 1 >/dev/null
postgres "$bin/pg_ctl" --pgdata "$at/cluster" status >/dev/null ||
  postgres "$bin/pg_ctl" --pgdata "$at/cluster" --wait --log "$at/log" \
    --options "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_wal_size=8MB -c min_wal_size=2MB" start >/dev/null
echo "$at" > "$here/mounted"
df --output=size --block-size=1M "$at" | tail -1 > "$here/size"
echo "$RECONCILE_REASON" >> "$here/reasons"
