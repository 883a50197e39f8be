/** The end-to-end tests run the built program, so the build must be that of the sources under test. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export default function buildOnce(): void {
  execFileSync(process.execPath, [join(__dirname, "../../scripts/build.mjs")], { stdio: "inherit" });
}
