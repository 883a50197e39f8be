// The servers that the stores are tested against, started for a benchmark: they are written in TypeScript beside the tests.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const require = createRequire(import.meta.url);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const built = join(root, "node_modules", ".cache", "reconcile-bench");

function load(name) {
  mkdirSync(built, { recursive: true });
  const source = readFileSync(join(root, "test", "support", `${name}.ts`), "utf8");
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(source, { compilerOptions });
  const path = join(built, `${name}.cjs`);
  writeFileSync(path, outputText);
  return require(path);
}

export async function startLoopbackStores() {
  const { startStateServer } = load("state-server");
  const { startS3Server } = load("s3-server");
  const { postgresMissing, startPostgres } = load("postgres-server");
  const http = await startStateServer({ kind: "gitlab" });
  const s3 = await startS3Server(1000);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: s3.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
  });
  if (postgresMissing !== undefined) process.stderr.write(`PostgreSQL is left out: ${postgresMissing}\n`);
  const postgres = postgresMissing === undefined ? await startPostgres() : undefined;
  return {
    http: http.url,
    postgres: postgres?.url,
    async stop() {
      await http.stop();
      await s3.stop();
      await postgres?.stop();
    },
  };
}
