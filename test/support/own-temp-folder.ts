/**
 * One folder for all that a run writes outside the repository, removed at its end: every test and every process that it
 * starts asks the system for its temporary folder, and none has to clean up for the sake of the machine.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function ownTempFolder(): void {
  // A short name: a socket's path has to fit in a hundred characters.
  const folder = mkdtempSync(join(tmpdir(), "reconcile-"));
  // Not all run as whoever runs the tests: PostgreSQL refuses to be root.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  // Also when the run is interrupted. Embedded worlds outlive their last command by a while, and may still write.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
}
