/** Reads stacks, the sources of their files, and generators of stacks. */
import type { Path } from "../../config/yaml/file";
import { onlyDefined } from "../../core/text/objects";
import { addressFault, isLoopbackHost, isUrl, unlikelyPlace } from "../../core/text/outside-policy";
import type { Follow, Generator, OutputReference, PullSetting, Source, StackSpec } from "../model";
import { hostPlace } from "../pulls/host";
import { duration, type FleetReading, holdsPassword, passwordIn, type Reader } from "./reader";
import type { Common, Environment, FollowBlock, GenerateBlock, SourceBlock, StackBlock } from "./rows";

function readCommon(block: Common, defaults: Common) {
  const { first = "30s", max = "1h", give_up_after: giveUpAfter = 8 } = { ...defaults.retry, ...block.retry };
  const {
    service,
    tenant = "default",
    approve = "safe",
    consents = [],
    opens_at: opensAt,
    approvers = 1,
    not_the_author: notTheAuthor = false,
    interval = "10m",
    state,
  } = { ...defaults, ...block };
  return {
    ...onlyDefined({ service }),
    tenant,
    approve,
    consents,
    ...onlyDefined({
      opensAt: opensAt === undefined ? undefined : Number(opensAt.slice(1)),
      approvers: approvers === 1 ? undefined : approvers,
      notTheAuthor: notTheAuthor ? notTheAuthor : undefined,
    }),
    intervalMs: duration(interval),
    retry: { firstMs: duration(first), maxMs: duration(max), giveUpAfter },
    state,
  };
}

const textsOfVars = (vars: Environment["vars"] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]));

export function readStack(name: string, block: StackBlock, defaults: Common, reader: Reader): StackSpec {
  const path = ["stacks", name];
  const { state, ...common } = readCommon(block, defaults);
  if (common.notTheAuthor === true && block.source.git === undefined)
    reader.problems.push({
      code: "fleet/bad-source",
      summary: `the stack ${name} is not_the_author, and only a Git repository tells who wrote a change`,
      fix: "take its files from Git, or write not_the_author: false for this stack",
      at: reader.at([...path, "source"]),
    });
  const inputs = readStackInputs(block.inputs ?? {}, [...path, "inputs"], reader);
  const dependsOn = [...new Set([...(block.depends_on ?? []), ...Object.values(inputs).map(({ stack }) => stack)])];
  return {
    name,
    source: readSource(block.source, [...path, "source"], reader),
    ...common,
    state: readStackState(state, name, block.state === undefined ? ["stacks", name] : [...path, "state"], reader),
    ...onlyDefined({ env: block.env }),
    vars: textsOfVars(block.vars),
    varFiles: block.var_files ?? [],
    inputs,
    dependsOn,
    destroy: block.destroy === true,
    paused: block.paused === true,
  };
}

function readStackState(
  state: string | undefined,
  name: string,
  path: Path,
  { at, problems, reading, file }: Reader,
): string {
  if (state === undefined) {
    problems.push({
      code: "fleet/no-state",
      summary: `the stack ${name} has no place for its state`,
      fix: 'write state: "postgres://HOST/DATABASE?state=${stack}" under defaults',
      at: at(path),
    });
    return "";
  }
  const place = state.replaceAll("${stack}", name);
  const missed = unlikelyPlace(place);
  if (missed !== undefined) problems.push({ code: "config/invalid-value", ...missed, at: at(path) });
  if (holdsPassword(place))
    problems.push(
      passwordIn("state", at(path), "take it out and set PGPASSWORD (or the store's own variables) for the workers"),
    );
  return isUrl(place) ? place : reading.resolvePath(file, place);
}

/** As git and a push name it: without a dot, and with one slash between two folders. */
const plainPath = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");

function readSource(block: SourceBlock, path: Path, { at, problems, reading, file }: Reader): Source {
  const { git, folder, artifact } = block;
  const given = [git, folder, artifact].filter((one) => one !== undefined);
  const inside = plainPath(block.path ?? "");
  const problem = sourceProblem(block, given.length, inside);
  if (problem !== undefined) problems.push({ code: "fleet/bad-source", ...problem, at: at(path) });
  if (git !== undefined) {
    if (holdsPassword(git)) problems.push(passwordIn("git", at([...path, "git"]), "use git's own credential helper"));
    const pulls = readPulls(block, path, at, problems);
    return {
      kind: "git",
      url: localGit(git, file, reading),
      ref: block.ref ?? "main",
      path: inside,
      ...onlyDefined({ pulls }),
    };
  }
  if (artifact !== undefined && holdsPassword(artifact))
    problems.push(passwordIn("artifact", at([...path, "artifact"]), "take it out, or take the files from Git"));
  if (artifact !== undefined) return { kind: "artifact", url: artifact, digest: block.digest ?? "", path: inside };
  return { kind: "folder", folder: reading.resolvePath(file, folder ?? ".") };
}

function readPulls(
  { git = "", pull_requests: asked = false }: SourceBlock,
  path: Path,
  at: Reader["at"],
  problems: Reader["problems"],
): PullSetting | undefined {
  if (asked === false) return undefined;
  const { token, api, approvers = [] } = asked === true ? {} : asked;
  if (hostPlace(git, api) === undefined)
    problems.push({
      code: "fleet/bad-source",
      summary: `pull_requests needs a repository at GitHub or GitLab, and ${JSON.stringify(git)} is at no host`,
      fix: "write git: https://HOST/OWNER/NAME or git@HOST:OWNER/NAME, or leave pull_requests out",
      at: at([...path, "pull_requests"]),
    });
  if (api !== undefined && addressFault(URL.canParse(api) ? new URL(api) : null, false) !== undefined)
    problems.push({
      code: "fleet/bad-source",
      summary: `the API ${JSON.stringify(api)} is no https:// address without a credential`,
      fix: "write api: https://HOST/api/v3 (GitHub) or https://HOST/api/v4 (GitLab)",
      at: at([...path, "pull_requests", "api"]),
    });
  return { approvers, ...onlyDefined({ token, api }) };
}

/** The path of a local repository is relative to the fleet's file. As for git, a colon before any slash ends a host's name. */
const localGit = (url: string, file: string, reading: FleetReading): string =>
  /^[^/]*:/.test(url) ? url : reading.resolvePath(file, url);

function sourceProblem(
  block: SourceBlock,
  given: number,
  inside: string,
): { readonly summary: string; readonly fix: string } | undefined {
  if (given !== 1)
    return {
      summary: `a source is exactly one of git, folder and artifact; this one has ${given}`,
      fix: "write source: { git: https://…, ref: main, path: FOLDER }",
    };
  const fault =
    (block.git === undefined ? undefined : gitFault(block.git)) ??
    (block.ref === undefined ? undefined : refFault(block.ref));
  if (fault !== undefined)
    return { summary: fault, fix: "write source: { git: https://…, ssh://…, git@HOST:PATH or a path, ref: main }" };
  if (block.artifact !== undefined && !/^https?:\/\/[^-]/.test(block.artifact))
    return {
      summary: `the artifact ${JSON.stringify(block.artifact)} is no http:// or https:// address`,
      fix: "write source: { artifact: https://…, digest: sha256:… }",
    };
  if (block.git === undefined && block.pull_requests !== undefined && block.pull_requests !== false)
    return {
      summary: "only a Git repository has pull requests",
      fix: "write source: { git: https://…, pull_requests: true }",
    };
  if (inside.split("/").includes(".."))
    return { summary: "the path of a source must not leave it", fix: "write it without .." };
  if (block.artifact !== undefined && block.digest === undefined)
    return {
      summary: "an artifact needs its digest, so that what runs is what was meant",
      fix: "add digest: sha256:…",
    };
  return undefined;
}

/** Git takes more for an address than a place: names of programs, open files, options. Absent: it is a place. */
function gitFault(url: string): string | undefined {
  const named = `the repository ${JSON.stringify(url)}`;
  if (url === "" || /^-|\p{Cc}/u.test(url)) return `${named} is no address`;
  if (/^[a-z0-9+.-]*::/i.test(url)) return `${named} is an address that starts a program`;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(url);
  if (scheme === null) return /^[^/@:]*@?-/.test(url) ? `${named} is no address` : undefined;
  const [, word = "", rest = ""] = scheme;
  if (/^([^/@]*@)?-/.test(rest)) return `${named} is no address`;
  switch (word.toLowerCase()) {
    case "https":
    case "ssh":
    case "file":
      return undefined;
    case "http":
      return URL.canParse(url) && isLoopbackHost(new URL(url).hostname)
        ? undefined
        : `${named} is fetched without encryption, so that anybody on the way may change what is applied`;
    default:
      return `${named} is neither https, ssh nor a path`;
  }
}

/** Absent: it can be the name of a branch, a tag or a commit. HEAD would be that of a worker's mirror, not the repository's. */
const refFault = (ref: string): string | undefined =>
  /^-|[\s~^:?*[\\\p{Cc}]|\.\.|@\{|\/$|^\/|^(@|[A-Z_]*HEAD)$/u.test(ref) || ref === ""
    ? `${JSON.stringify(ref)} is no name of a branch, a tag or a commit`
    : undefined;

const referencePattern = /^\$\{stack\.([A-Za-z0-9][A-Za-z0-9_.-]*)\.outputs\.([A-Za-z_][A-Za-z0-9_-]*)\}$/;

function readStackInputs(inputs: Record<string, string>, path: Path, { at, problems }: Reader) {
  const read: Record<string, OutputReference> = {};
  for (const [name, text] of Object.entries(inputs)) {
    const [, stack, output] = referencePattern.exec(text) ?? [];
    if (stack !== undefined && output !== undefined) read[name] = { stack, output };
    else
      problems.push({
        code: "fleet/bad-input",
        summary: `the input ${name} cannot be ${JSON.stringify(text)}`,
        fix: "write ${stack.NAME.outputs.OUTPUT}; what is known beforehand goes under vars",
        at: at([...path, name]),
      });
  }
  return read;
}

export function readFollow({ git, ref, path = "fleet.yaml" }: FollowBlock, reader: Reader): Follow {
  const source = readSource({ git, ref: ref ?? "main", path }, ["follow"], reader);
  // What names a Git repository is one.
  return source.kind === "git"
    ? { url: source.url, ref: source.ref, path: source.path }
    : { url: git, ref: "main", path };
}

export function readGenerator(block: GenerateBlock, index: number, defaults: Common, reader: Reader): Generator {
  const path = ["generate", index];
  const { state, ...common } = readCommon(block, defaults);
  const { git, ref, path: inside, folder, pull_requests: pulls } = block;
  const source = onlyDefined({ git, ref, path: inside, folder, pull_requests: pulls });
  return {
    source: readSource(source, path, reader),
    folders: plainPath(block.folders),
    stack: block.stack ?? "${folder}",
    template: {
      ...common,
      // The name of a generated stack is put in once it is known.
      state: readStackState(
        state,
        state === undefined ? (block.stack ?? "${folder}") : "${stack}",
        block.state === undefined ? path : [...path, "state"],
        reader,
      ),
      ...onlyDefined({ env: block.env }),
      vars: textsOfVars(block.vars),
      varFiles: [],
      inputs: {},
      dependsOn: [],
      destroy: false,
      paused: false,
    },
  };
}
