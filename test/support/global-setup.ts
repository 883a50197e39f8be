/**
 * Before all tests: the built program is that of the sources under test, and whatever is written outside the repository
 * is written to one folder, which goes at the end. Every test and every process that it starts asks the system for its
 * temporary folder, and none has to clean up for the sake of the machine.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function globalSetup(): void {
  // For work on tests that do not run the command. `compiled`: what they import was compiled a moment ago.
  if (!["1", "compiled"].includes(process.env["SKIP_BUILD"] ?? ""))
    execFileSync(process.execPath, [join(__dirname, "../../scripts/build.mjs")], { stdio: "inherit" });
  const folder = quickFolder() ?? folderIn(tmpdir());
  // Not all run as whoever runs the tests: PostgreSQL refuses to be root.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  // Also when the run is interrupted.
  process.once("exit", () => removeWhole(folder));
}

/** A short name: a socket's path has to fit in a hundred characters. */
const folderIn = (place: string): string => mkdtempSync(join(place, "reconcile-"));

/** Several times of what the tests were seen to have there. */
const enoughBytes = 2 ** 31;

/**
 * In memory, where the system has a place there that is large enough and in which programs may be run: what waits for a
 * disk in these tests is of no use to anybody, since no test outlives its machine.
 */
function quickFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (bavail * bsize < enoughBytes) return undefined;
    const folder = folderIn("/dev/shm");
    const program = join(folder, "runs");
    try {
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
      execFileSync(program, { stdio: "ignore" });
      rmSync(program);
      return folder;
    } catch {
      rmSync(folder, { recursive: true, force: true });
      return undefined;
    }
  } catch {
    return undefined;
  }
}

/** Embedded worlds and processes that are kept for the next command outlive a test by a while, and may still write. */
function removeWhole(folder: string): void {
  for (let left = 50; ; left--)
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
}
