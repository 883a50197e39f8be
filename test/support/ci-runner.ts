/**
 * A CI runner in small: takes a pipeline file as a code host does, and runs the command lines of its jobs in their order
 * in bash, with the environment they declare. `reconcile` is the built command; the host's own tools (gh, curl, npm) are
 * stand-ins that keep comments, issues and artifacts in memory-like files of a folder.
 */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { cliPath, type Ran, root } from "./cli-process";
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
  "label create") test ! -f "$HOST/label"; echo "$3" > "$HOST/label" ;;
  "issue create") test -f "$HOST/label"; body "$@" > "$HOST/issue" ;;
  "issue edit") body "$@" > "$HOST/issue" ;;
  "issue close") rm "$HOST/issue" ;;
  "api repos/"*/pulls) if [ ! -f "$HOST/pushed" ]; then echo 12; fi ;;
  "api repos/"*/permission) cat "$HOST/right" ;;
  "workflow run") ;;
  "api repos/"*/artifacts) ls "$HOST/artifacts" ;;
  "api repos/"*) echo abc123 ;;
  "run list") echo 42 ;;
  "run download") cp "$HOST"/artifacts/"$5"/* "$7"/ ;;
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
  "GET "*/notes*page=1) echo '[{"id":1,"body":"other"}]' ;;
  "GET "*/notes*page=[3-9]) echo '[]' ;;
  "GET "*/notes*) if [ -f "$HOST/comment" ]; then node -p 'JSON.stringify([{id:5,body:fs.readFileSync(process.env.HOST+"/comment","utf8")}])'; else echo '[]'; fi ;;
  "POST "*/notes) test ! -f "$HOST/comment"; cat "$form" > "$HOST/comment" ;;
  "PUT "*/notes/5) cat "$form" > "$HOST/comment" ;;
  "GET "*/merge_requests) if [ -f "$HOST/pushed" ]; then echo '[]'; else echo '[{"iid":12}]'; fi ;;
  "GET "*/merge_requests/12/pipelines) echo '[{"id":9,"ref":"larger"},{"id":8,"ref":"refs/merge-requests/12/head"},{"id":6,"ref":"refs/merge-requests/12/head"}]' ;;
  "GET "*/pipelines/8/jobs?scope=success*) if [ -f "$HOST/failed" ]; then echo '[]'; else echo '[{"id":80,"name":"test"},{"id":81,"name":"plan"}]'; fi ;;
  "GET "*/jobs/81/artifacts/reviewed.plan.json) cat "$HOST/artifacts/plan/reviewed.plan.json" > "$out" ;;
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
  readonly id?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Environment;
  readonly env?: Environment;
}
interface GithubWorkflow {
  readonly env?: Environment;
  readonly permissions: Environment;
  readonly jobs: Readonly<Record<string, { readonly env?: Environment; readonly steps: readonly GithubStep[] }>>;
}
interface GithubAction {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly runs: { readonly steps: readonly GithubStep[] };
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

/** An action of this repository, as its workflows name it: by the repository and a version. */
const ownAction = /^reconcile-cloud\/reconcile-cloud\/(actions\/\w+)@v\d/;

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
  const runSteps = async (steps: readonly GithubStep[], outer: Environment, known: Environment): Promise<void> => {
    let seen = known;
    for (const step of steps) {
      const [, action] = ownAction.exec(step.uses ?? "") ?? [];
      if (step.uses?.startsWith("actions/upload-artifact") === true)
        keepArtifact(host, step.with!["name"]!, join(cwd, step.with!["path"]!));
      if (output.exitCode !== 0) continue;
      if (action !== undefined) {
        const { inputs, runs } = parse(readFileSync(join(root, action, "action.yml"), "utf8")) as GithubAction;
        const given = fillGithub(step.with, seen);
        for (const name of Object.keys(given)) if (inputs[name] === undefined) throw new Error(`no input ${name}`);
        const filled = Object.entries(inputs).map(([name, input]): [string, string] => {
          const value = given[name] ?? input.default;
          if (value === undefined) throw new Error(`${action} needs ${name}`);
          return [`inputs.${name}`, value];
        });
        await runSteps(runs.steps, outer, { ...seen, ...Object.fromEntries(filled) });
        continue;
      }
      if (step.run === undefined) continue;
      const outputs = join(host.folder, "outputs");
      writeFileSync(outputs, "");
      const { exitCode, stdout, stderr } = await runScript(step.run, cwd, host, {
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_SHA: "def456",
        GITHUB_OUTPUT: outputs,
        ...own,
        ...outer,
        ...fillGithub(step.env, seen),
      });
      output = { exitCode, stdout: output.stdout + stdout, stderr: output.stderr + stderr };
      for (const [, name, value] of readFileSync(outputs, "utf8").matchAll(/^(\w+)=(.*)$/gm))
        seen = { ...seen, [`steps.${step.id}.outputs.${name}`]: value! };
    }
  };
  for (const job of Object.values(workflow.jobs))
    await runSteps(job.steps, { ...fillGithub(workflow.env, values), ...fillGithub(job.env, values) }, values);
  return output;
}

function keepArtifact(host: Host, name: string, path: string): void {
  if (!existsSync(path)) return;
  const to = join(host.folder, "artifacts", name);
  // A folder is kept as what is in it.
  cpSync(path, statSync(path).isDirectory() ? to : join(to, basename(path)), { recursive: true });
}

interface GitlabJob {
  readonly extends?: string;
  readonly variables?: Environment;
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
  readonly artifacts?: { readonly paths?: readonly string[]; readonly reports?: Environment };
}
interface GitlabInclude {
  readonly component: string;
  readonly inputs: Environment;
}

/** The jobs of the components that a pipeline includes, with its inputs in them. */
function gitlabJobs(file: string): Readonly<Record<string, GitlabJob>> {
  const { include } = parse(readFileSync(file, "utf8")) as { readonly include: readonly GitlabInclude[] };
  return Object.assign(
    {},
    ...include.map(({ component, inputs }) => {
      const [, name] = /^\$CI_SERVER_FQDN\/reconcile-cloud\/reconcile-cloud\/(\w+)@\d/.exec(component) ?? [];
      const text = readFileSync(join(root, "templates", `${name}.yml`), "utf8");
      const [head = "", jobs = ""] = text.split(/^---$/m);
      const { spec } = parse(head) as { spec: { inputs: Record<string, { default?: string }> } };
      for (const given of Object.keys(inputs)) if (!Object.hasOwn(spec.inputs, given)) throw new Error(`no ${given}`);
      const filled = jobs.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) => {
        const value = inputs[input] ?? spec.inputs[input]?.default;
        if (value === undefined) throw new Error(`${component} needs ${input}`);
        return value;
      });
      return parse(filled) as Record<string, GitlabJob>;
    }),
  ) as Readonly<Record<string, GitlabJob>>;
}

/** The job's variables may name others, as GitLab expands them. */
export async function runGitlab(file: string, job: string, cwd: string, host: Host, given: Environment): Promise<Ran> {
  const jobs = gitlabJobs(file);
  const found = jobs[job]!;
  const base = jobs[found.extends ?? ""];
  const declared: Environment = { ...base?.variables, ...found.variables };
  const expand = (text: string): string =>
    text.replace(/\$([A-Z_][A-Z_0-9]*)/g, (_, name: string) => {
      const value = given[name] ?? declared[name];
      if (value === undefined) throw new Error(`nobody gives $${name}`);
      return expand(value);
    });
  const env = { ...given, ...Object.fromEntries(Object.entries(declared).map(([name, text]) => [name, expand(text)])) };
  const script = [...(found.before_script ?? base?.before_script ?? []), ...found.script].join("\n");
  const finished = await runScript(script, cwd, host, env);
  for (const path of found.artifacts?.paths ?? []) keepArtifact(host, job, join(cwd, path));
  return finished;
}

/* The commands of a document or a pipeline file, in their order: what a reader would type is what the tests run. */

/** Every `reconcile …` line of the ```sh blocks of a Markdown file. */
export function commandsIn(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block]) =>
    block!
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /^(npx )?reconcile /.test(line)),
  );
}

/** A line as its words; quotes hold words together, `#` begins a remark. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, double, single, plain] of line.matchAll(/"([^"]*)"|'([^']*)'|(#.*$|[^\s"']+)/g)) {
    if (plain?.startsWith("#")) break;
    words.push(double ?? single ?? plain!);
  }
  return words.filter((word) => word !== "npx");
}
