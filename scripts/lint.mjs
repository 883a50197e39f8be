// All that `npm run lint` holds, in one process beside Biome: loading the compiler is half of what each check takes.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
spawn(process.execPath, [biome, "check", "."], { stdio: "inherit" }).on("exit", (code) => {
  if (code !== 0) process.exitCode = 1;
});

// They say what is stale, and write nothing.
process.argv.push("--check");
await import("./check-imports.mjs");
(await import("./check-casts.mjs")).main();
await import("./generate-codes.mjs");
await import("./generate-schemas.mjs");
await import("./generate-validators.mjs");
await import("./api-report.mjs");
