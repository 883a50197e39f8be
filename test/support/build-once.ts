/** The end-to-end tests run the built program, so the build must be that of the sources under test. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export default function buildOnce(): void {
  // For work on tests that do not run the built program.
  if (process.env["SKIP_BUILD"] === "1") return;
  execFileSync(process.execPath, [join(__dirname, "../../scripts/build.mjs")], { stdio: "inherit" });
}
