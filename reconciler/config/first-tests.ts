/** The file that `reconcile test --init` writes: tests that pass, of what a desired state asks for. */
import type { Desired } from "../core/model/desired";
import { appendTo } from "../core/text/objects";
import type { GivenVars } from "./vars";

interface FirstTests extends Pick<GivenVars, "vars"> {
  readonly file: string;
  readonly schema: string;
  readonly env?: string;
  /** Outputs of other projects that the file asks for. */
  readonly reads: ReadonlyMap<string, readonly string[]>;
}

/** The outputs that a text names as `${read.NAME.OUTPUT}`. */
export function readReferences(text: string): FirstTests["reads"] {
  const found = new Map<string, string[]>();
  for (const [, name = "", output = ""] of text.matchAll(/\$\{read\.([\w-]+)\.([\w-]+)/g))
    appendTo(found, name, output);
  return found;
}

export function firstTests(
  { resources, checks, imports }: Desired,
  { file, schema, env, vars = {}, reads }: FirstTests,
): string {
  const changes = resources.map(({ address }) => `        ${JSON.stringify(address)}: create`);
  const gone = resources.map(({ address }) => `        ${JSON.stringify(address)}: delete`);
  // What the file itself refuses is no test of a new user's: protection, and limits of what one plan may do.
  const { remove, stop, monthlyIncrease } = checks?.atMost ?? {};
  const keeps =
    remove !== undefined || stop !== undefined || resources.some(({ lifecycle }) => lifecycle.preventDestroy);
  const without = (keys: readonly string[]): string =>
    keys.length === 0 ? file : `{ files: [${file}], set: { ${keys.join(", ")} } }`;
  // What is to be taken over is not there on a service that begins empty.
  const taken = imports.length === 0 ? [] : ["imports: null"];
  const side = without(taken);
  const first = without([
    ...taken,
    ...(monthlyIncrease === undefined ? [] : ["checks: { at_most: { monthly_increase: null } }"]),
  ]);
  // An address fits most places where another project's output stands.
  const handed = [...reads].map(
    ([name, outputs]) => `${name}: { ${[...new Set(outputs)].map((output) => `${output}: 192.0.2.1`).join(", ")} }`,
  );
  const lines = [
    ...(env === undefined ? [] : [`env: ${JSON.stringify(env)}`]),
    ...(Object.keys(vars).length === 0 ? [] : [`vars: ${JSON.stringify(vars)}`]),
    ...(handed.length === 0 ? [] : [`reads: { ${handed.join(", ")} }`]),
  ];
  const same = lines.map((line) => `    ${line}\n`).join("");
  return `# yaml-language-server: $schema=${schema}
# Tests of ${file}: reconcile test runs them on the embedded service, in no time.
tests:
  - name: everything is made, and a second run changes nothing
${same}    when: ${first}
    expect:
      changes:${changes.length === 0 ? " {}" : `\n${changes.join("\n")}`}
      converges: true

  - name: what is there already needs no change
${same}    given: ${side}
    when: ${side}
    expect: { changes: {}, steps: [] }
${
  keeps || resources.length === 0
    ? ""
    : `
  - name: taking it all away is what destroy would do
${same}    given: ${side}
    when: ${side}
    destroy: true
    expect:
      changes:
${gone.join("\n")}
`
}`;
}
