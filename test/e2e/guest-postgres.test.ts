/** A database whose disk grows and moves: a real PostgreSQL on a real file system, mounted and grown by what is owed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { done, ownPlace } from "../support/own-place";
import { freePort, postgresBinaries } from "../support/postgres-server";

const probe = `cd "$1" && truncate --size 4M probe && mkfs.ext4 -q probe && resize2fs probe && mkdir at && mount -o loop probe at &&
  mountpoint at && umount at &&
  setpriv --reuid nobody --regid nogroup --clear-groups true && test -x "$2/pg_ctl"`;

function missing(): string | undefined {
  if (postgresBinaries === undefined) return "there is no PostgreSQL on this machine";
  try {
    execFileSync("unshare", ["--mount", "sh", "-c", probe, "probe", makeFolder(), postgresBinaries], { stdio: "pipe" });
    return undefined;
  } catch {
    return "this machine cannot mount a file as a disk, or has no pg_ctl";
  }
}
const reason = missing();
if (reason !== undefined) console.error(`\n*** a database whose disk grows: ${reason}: not tried ***\n`);

describe.skipIf(reason !== undefined)("a database whose data lies on a volume", () => {
  const place = ownPlace();
  let keeper: ChildProcess | undefined;
  let guest: ((what: string) => readonly string[]) | undefined;
  afterEach(() => {
    const [program = "", ...args] = guest?.("flush") ?? [];
    try {
      execFileSync(program, args, { stdio: "ignore" });
    } finally {
      keeper?.kill("SIGKILL");
    }
  });

  it("goes on after the volume grew, on a larger file system, and after it moved to another VM", async () => {
    keeper = spawn("unshare", ["--mount", "sh", "-c", "echo entered && exec sleep 3600"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let said = "";
    keeper.stdout?.on("data", (text) => (said += String(text)));
    await eventually("a mount namespace", () => said.includes("entered") || undefined);
    const folder = makeFolder();
    chmodSync(folder, 0o711);
    copyFileSync(join(__dirname, "guest-disk.sh"), join(folder, "guest"));
    const port = await freePort();
    const command = (what: string) => [
      ...["sh", join(folder, "guest"), String(keeper?.pid), postgresBinaries ?? "", String(port), what],
    ];
    guest = command;
    const onVm = (attach_to: string, size: number) => ({
      vms: { db: { name: "db-1" }, db2: { name: "db-2" } },
      volumes: {
        data: {
          ...{ size, attach_to, flush: { via: "command", command: command("flush") } },
          after_attach: { command: command("attach") },
        },
      },
    });
    const query = async (text: string) => {
      const client = new Client({ host: "127.0.0.1", port, user: "reconcile", database: "postgres" });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    };
    const told = (name: string) => execFileSync("cat", [join(folder, name)], { encoding: "utf8" }).trim();
    const rows = () => query("select string_agg(word, ' ' order by word) as words from notes");

    place.declare(onVm("db", 1));
    await done(place.reconcile("apply", "-y"));
    await query("create table notes (word text primary key, filling text)");
    await query("insert into notes values ('1-made')");
    const small = Number(told("size"));
    await query("alter table notes alter column filling set storage external");

    place.declare(onVm("db", 2));
    await done(place.reconcile("apply", "-y"));
    expect(await rows()).toEqual([{ words: "1-made" }]);
    expect(Number(told("size"))).toBeGreaterThan(1.8 * small);
    // More than the disk could hold before.
    await query("insert into notes select '2-' || n, repeat(md5(n::text), 4000) from generate_series(1, 1000) n");
    const [{ bytes }] = await query("select pg_database_size('postgres')::float8 as bytes");
    expect(bytes / 2 ** 20).toBeGreaterThan(small);

    place.declare(onVm("db2", 2));
    await done(place.reconcile("apply", "-y"));
    expect(await query("select count(*)::int as count from notes")).toEqual([{ count: 1001 }]);
    await query("insert into notes values ('3-moved')");
    const [db2] = place.emulator.dump().vms.filter(({ name }) => name === "db-2");
    expect(told("mounted")).toBe(join(folder, db2?.id ?? ""));
    expect(told("reasons").split("\n")).toEqual(["created", "grown", "moved"]);
    await done(place.reconcile("plan", "--detailed-exitcode"));
  });
});
