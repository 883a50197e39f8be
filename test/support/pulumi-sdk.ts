/**
 * Which SDK and which Node the programs and providers of a test run on: this repository's, or the ones that
 * test/pulumi/matrix.mjs names.
 */
import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(__dirname, "../..");
const chosen = process.env["PULUMI_SDK_FOLDER"];
const modules = join(chosen ?? root, "node_modules");

export const node = process.env["PULUMI_SDK_NODE"] ?? process.execPath;
export const fromProgram = createRequire(join(chosen ?? root, "program.js"));
/** What the SDK brings with it is found from where the SDK is. */
export const fromSdk = createRequire(fromProgram.resolve("@pulumi/pulumi"));
export const grpc = fromSdk("@grpc/grpc-js") as typeof import("@grpc/grpc-js");
export const { Struct } = fromSdk(
  "google-protobuf/google/protobuf/struct_pb.js",
) as typeof import("google-protobuf/google/protobuf/struct_pb");
export const { Empty } = fromSdk(
  "google-protobuf/google/protobuf/empty_pb.js",
) as typeof import("google-protobuf/google/protobuf/empty_pb");
export const packageFolder = chosen === undefined ? root : join(modules, "reconcile-cloud");

/** A folder from which this package and the SDK resolve, as from a program that depends on them. */
export function makeProgramFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-program-"));
  linkModules(folder);
  return folder;
}

export function linkModules(folder: string): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(packageFolder, join(folder, "node_modules/reconcile-cloud"));
  symlinkSync(join(modules, "@pulumi"), join(folder, "node_modules/@pulumi"));
  // For programs in TypeScript.
  symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
}

const before = ["compile-cache.cjs", "rarely-used.cjs"].map((file) => `--require=${join(__dirname, file)}`);

/** For a process that loads the SDK: it compiles only what none before it compiled, and loads only what it uses. */
export const quickStart = [process.env["NODE_OPTIONS"] ?? "", ...before].join(" ").trim();
