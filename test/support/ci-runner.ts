/**
 * A CI runner in small: takes a pipeline file as a code host does, and runs the command lines of its jobs in their order
 * in bash, with the environment they declare. `reconcile` is the built command; the host's own tools (gh, curl, npm) are
 * stand-ins that keep comments, issues and artifacts in memory-like files of a folder.
 */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { cliPath, type Ran } from "./cli-process";
import { makeFolder } from "./folder";

export interface Host {
  readonly folder: string;
  /** What was asked of gh or curl, a line each. */
  asked(): string[];
  /** What the host keeps: a comment, an issue. */
  kept(name: string): string | undefined;
  keep(name: string, text: string): void;
  readonly bin: string;
}

const shim = (body: string): string => `#!/bin/bash\nset -eu\n${body}`;

const gh = `echo "gh $*" >> "$HOST/asked"
body() { while [ $# -gt 0 ]; do if [ "$1" = --body-file ]; then cat "$2"; fi; shift; done; }
case "$1 $2" in
  "api --paginate") if [ -f "$HOST/comment" ]; then echo 5; fi ;;
  "api --silent") for word in "$@"; do case "$word" in body=@*) cat "\${word#body=@}" > "$HOST/comment" ;; esac; done ;;
  "issue list") if [ -f "$HOST/issue" ]; then echo 7; fi ;;
  "issue create") body "$@" > "$HOST/issue" ;;
  "issue edit") body "$@" > "$HOST/issue" ;;
  "issue close") rm "$HOST/issue" ;;
  "api repos/"*/pulls) echo 12 ;;
  "api repos/"*) echo abc123 ;;
  "run list") echo 42 ;;
  "run download") while [ "$1" != --dir ]; do shift; done; mkdir -p "$2"; cp "$HOST"/artifacts/plan*/* "$2"/ 2>/dev/null || cp "$HOST"/artifacts/plans/plans/* "$2"/ ;;
  *) exit 9 ;;
esac
`;

const curl = `echo "curl $*" | sed "s/glpat-[a-z]*/TOKEN/" >> "$HOST/asked"
method=GET; url=""; out=/dev/stdout; form=""; state=""
while [ $# -gt 0 ]; do
  case "$1" in
    --request) method=$2; shift ;;
    --header|--output) if [ "$1" = --output ]; then out=$2; fi; shift ;;
    --form) case "$2" in body=\\<*|description=\\<*) form=\${2#*=<} ;; state_event=close) state=close ;; esac; shift ;;
    --*) ;;
    *) url=$1 ;;
  esac
  shift
done
case "$method $url" in
  "GET "*/notes*) if [ -f "$HOST/comment" ]; then node -p 'JSON.stringify([{id:1,body:"other"},{id:5,body:fs.readFileSync(process.env.HOST+"/comment","utf8")}])'; else echo '[]'; fi ;;
  "POST "*/notes) test ! -f "$HOST/comment"; cat "$form" > "$HOST/comment" ;;
  "PUT "*/notes/5) cat "$form" > "$HOST/comment" ;;
  "GET "*/merge_requests) echo '[{"iid":12}]' ;;
  "GET "*/jobs/artifacts/refs%2Fmerge-requests%2F12%2Fhead/raw/*) cat "$HOST/artifacts/plan/shop.plan.json" > "$out" ;;
  "GET "*/issues*) if [ -f "$HOST/issue" ]; then echo '[{"iid":3}]'; else echo '[]'; fi ;;
  "POST "*/issues) cat "$form" > "$HOST/issue" ;;
  "PUT "*/issues/3) if [ "$state" = close ]; then rm "$HOST/issue"; else cat "$form" > "$HOST/issue"; fi ;;
  *) exit 9 ;;
esac
`;

export function createHost(): Host {
  const folder = makeFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const tools = {
    reconcile: `exec ${process.execPath} ${cliPath} "$@"\n`,
    npm: "exit 0\n",
    git: 'case "$1" in show) cat "${2#*:}" ;; esac\n',
    gh,
    curl,
  };
  for (const [name, body] of Object.entries(tools)) {
    writeFileSync(join(bin, name), shim(body));
    chmodSync(join(bin, name), 0o755);
  }
  const read = (name: string): string | undefined =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : undefined;
  return {
    folder,
    bin,
    asked: () => (read("asked") ?? "").split("\n").filter((line) => line !== ""),
    kept: read,
    keep: (name, text) => writeFileSync(join(folder, name), text),
  };
}

export type Environment = Readonly<Record<string, string>>;

/** One script as a runner starts it: stops at the first command that fails, in a pipe as well. */
export function runScript(script: string, cwd: string, host: Host, env: Environment): Promise<Ran> {
  const path = `${host.bin}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  const child = spawn("bash", ["-eo", "pipefail", "-c", script], {
    cwd,
    env: {
      HOME: process.env["HOME"] ?? "",
      CI: "true",
      ...env,
      PATH: path,
      HOST: host.folder,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ exitCode: code ?? -1, stdout, stderr })));
}

interface GithubStep {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: { readonly name?: string; readonly path?: string };
  readonly env?: Environment;
}
interface GithubWorkflow {
  readonly env?: Environment;
  readonly permissions: Environment;
  readonly jobs: Readonly<Record<string, { readonly env?: Environment; readonly steps: readonly GithubStep[] }>>;
}

/** Fills `${{ … }}` from the values; one that nobody gave is a mistake of the file. */
function fillGithub(env: Environment | undefined, values: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env ?? {}).map(([name, text]) => [
      name,
      text.replace(/\$\{\{\s*(.*?)\s*\}\}/g, (_, expression: string) => {
        // Inputs are those of a run that was started by hand.
        const value = values[expression] ?? (expression.startsWith("inputs.") ? "" : undefined);
        if (value === undefined) throw new Error(`nobody gives \${{ ${expression} }}`);
        return value;
      }),
    ]),
  );
}

export async function runGithub(
  file: string,
  cwd: string,
  host: Host,
  values: Environment,
  /** Of the runner itself. */
  own: Environment = {},
): Promise<Ran> {
  const workflow = parse(readFileSync(file, "utf8")) as GithubWorkflow;
  let output: Ran = { exitCode: 0, stdout: "", stderr: "" };
  for (const job of Object.values(workflow.jobs))
    for (const step of job.steps) {
      if (step.uses?.startsWith("actions/upload-artifact") === true)
        keepArtifact(host, step.with!.name!, join(cwd, step.with!.path!));
      if (step.run === undefined || output.exitCode !== 0) continue;
      const env = {
        ...fillGithub(workflow.env, values),
        ...fillGithub(job.env, values),
        ...fillGithub(step.env, values),
      };
      const { exitCode, stdout, stderr } = await runScript(step.run, cwd, host, {
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_SHA: "def456",
        ...own,
        ...env,
      });
      output = { exitCode, stdout: output.stdout + stdout, stderr: output.stderr + stderr };
    }
  return output;
}

function keepArtifact(host: Host, name: string, path: string): void {
  if (!existsSync(path)) return;
  cpSync(path, join(host.folder, "artifacts", name, path.split("/").at(-1)!), { recursive: true });
}

interface GitlabJob {
  readonly variables?: Environment;
  readonly script: readonly string[];
  readonly artifacts?: { readonly paths?: readonly string[]; readonly reports?: Environment };
}

/** The job's variables may name others, as GitLab expands them. */
export async function runGitlab(file: string, job: string, cwd: string, host: Host, given: Environment): Promise<Ran> {
  const pipeline = parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  const found = pipeline[job] as GitlabJob;
  const declared = { ...(pipeline["variables"] as Environment), ...found.variables };
  const expand = (text: string): string =>
    text.replace(/\$([A-Z_][A-Z_0-9]*)/g, (_, name: string) => {
      const value = given[name] ?? declared[name];
      if (value === undefined) throw new Error(`nobody gives $${name}`);
      return expand(value);
    });
  const env = { ...given, ...Object.fromEntries(Object.entries(declared).map(([name, text]) => [name, expand(text)])) };
  const script = [...(pipeline["before_script"] as string[]), ...found.script].join("\n");
  const finished = await runScript(script, cwd, host, env);
  for (const path of found.artifacts?.paths ?? []) keepArtifact(host, job, join(cwd, path));
  return finished;
}
