/**
 * Before all tests: the built program is that of the sources under test, and whatever is written outside the repository
 * is written to one folder, which goes at the end. Every test and every process that it starts asks the system for its
 * temporary folder, and none has to clean up for the sake of the machine.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function globalSetup(): void {
  // For work on tests that do not run the built program.
  if (process.env["SKIP_BUILD"] !== "1")
    execFileSync(process.execPath, [join(__dirname, "../../scripts/build.mjs")], { stdio: "inherit" });
  // A short name: a socket's path has to fit in a hundred characters.
  const folder = mkdtempSync(join(tmpdir(), "reconcile-"));
  // Not all run as whoever runs the tests: PostgreSQL refuses to be root.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  // Also when the run is interrupted.
  process.once("exit", () => removeWhole(folder));
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
