/**
 * Which edits of the files may be written. One file speaks for every environment, so each edit is tried on the text, the
 * files are read again for all of them, and it stays only where exactly the resource that is meant becomes another one,
 * in exactly the environment that is meant.
 */
import { acceptInBlock, acceptInEnvironment, declares, type Edit } from "../../config/accept";
import type { Edited } from "../../config/edit-text";
import type { Address } from "../../core/model/address";
import type { Desired } from "../../core/model/desired";
import { allOfKind } from "../../core/model/kinds";

export interface EditAt {
  readonly address: Address;
  readonly edit: Edit;
}

/** The texts of files by their names. */
export type Texts = ReadonlyMap<string, string>;

/** What the files say, by environment; `undefined` as the name of a file without any. `undefined`: they cannot be read. */
export type Readings = ReadonlyMap<string | undefined, Desired | undefined>;

interface FilesReader {
  readonly environment: string | undefined;
  read(texts: Texts): Readings;
}

interface AcceptedEdits {
  readonly texts: Texts;
  /** Why an edit was not written. */
  readonly problems: ReadonlyMap<EditAt, string>;
}

export function acceptAll(before: Texts, edits: readonly EditAt[], { environment, read }: FilesReader): AcceptedEdits {
  const problems = new Map<EditAt, string>();
  const possible = edits.filter((one) => {
    const isDeclared = [...before.values()].some((text) => declares(text, one.edit));
    if (!isDeclared) problems.set(one, "no file declares it");
    return isDeclared;
  });
  if (possible.length === 0) return { texts: before, problems };
  let at: EditedFiles = { texts: before, readings: read(before) };
  for (const one of possible) {
    const edited = edit(at, one, environment, read);
    if ("problem" in edited) problems.set(one, edited.problem);
    else at = edited;
  }
  return { texts: at.texts, problems };
}

interface EditedFiles {
  readonly texts: Texts;
  readonly readings: Readings;
}

/** What an environment says for itself comes before what all say. */
function edit(
  { texts, readings }: EditedFiles,
  one: EditAt,
  environment: string | undefined,
  read: FilesReader["read"],
): EditedFiles | { readonly problem: string } {
  const own = (text: string): Edited | undefined =>
    environment === undefined ? undefined : acceptInEnvironment(text, one.edit, environment);
  let problem = "";
  for (const way of [own, (text: string) => acceptInBlock(text, one.edit)])
    for (const [file, text] of texts) {
      if (!declares(text, one.edit)) continue;
      const edited = way(text);
      if (edited === undefined) continue;
      if ("problem" in edited) {
        problem = edited.problem;
        continue;
      }
      // The file says so already, as after an earlier acceptance that no run has brought into the state yet.
      if (edited.text === text && one.edit.value !== undefined) return { texts, readings };
      const next = new Map([...texts, [file, edited.text]]);
      const after = read(next);
      const wrong = otherThanMeant(readings, after, one, environment);
      if (wrong === undefined) return { texts: next, readings: after };
      problem = wrong;
    }
  return { problem };
}

/** What else would change, in words. */
function otherThanMeant(
  before: Readings,
  after: Readings,
  { address, edit }: EditAt,
  environment: string | undefined,
): string | undefined {
  for (const [name, then] of before) {
    const now = after.get(name);
    const called = name === undefined ? "the file" : `the environment ${name}`;
    if (then === undefined) return `${called} cannot be read, so nobody can say that it stays as it is`;
    if (now === undefined) return `${called} could not be read any more`;
    const changed = changedIn(then, now);
    if (name === environment) {
      if (!changed.includes(address)) return "the files would say the same as before";
      const others = changed.filter((one) => one !== address);
      if (others.length > 0) return `it would change ${others.slice(0, 3).join(", ")} as well`;
      const more = ruleCount(now, address) - ruleCount(then, address);
      if (edit.rule !== undefined && more !== (edit.rule.is === "added" ? 1 : -1))
        return "its other rules come from a merge key (<<) or from defaults, and would be lost";
    } else if (changed.length > 0)
      return `its block holds for ${name} as well, which would change; write a variable there, with a value under environments: { ${environment}: { vars: { … } } }`;
  }
  return undefined;
}

const ruleCount = ({ resources }: Desired, address: Address): number =>
  allOfKind(resources, "group").find((group) => group.address === address)?.rules.length ?? 0;

/** The addresses of resources that differ; a name of the rest where anything else does. */
function changedIn(before: Desired, after: Desired): string[] {
  const [then, now] = [before, after].map(
    ({ resources }) => new Map(resources.map((resource) => [resource.address, meaningText(resource)])),
  );
  if (then === undefined || now === undefined) return [];
  const addresses = [...new Set([...then.keys(), ...now.keys()])];
  const rest = ({ resources: _, ...others }: Desired): string => meaningText(others);
  return [
    ...addresses.filter((address) => then.get(address) !== now.get(address)),
    ...(rest(before) === rest(after) ? [] : ["other settings"]),
  ];
}

const placeKeys = new Set(["source", "inherited", "rulePlaces", "files", "commandFile"]);
/** What is said, wherever in the files it stands. */
const meaningText = (value: object): string =>
  JSON.stringify(value, (key, inner: unknown) => (placeKeys.has(key) ? undefined : inner));
