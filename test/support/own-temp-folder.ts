/**
 * One folder for all that a run writes outside the repository, removed at its end: every test and every process that it
 * starts asks the system for its temporary folder, and none has to clean up for the sake of the machine.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function ownTempFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-tests-"));
  // Not all run as whoever runs the tests: PostgreSQL refuses to be root.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  // Embedded worlds outlive their last command by a while, and may write while they are removed.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
