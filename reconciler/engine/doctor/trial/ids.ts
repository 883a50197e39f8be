/** The id that the answer to a create of the trial's own shows, where no reader knows its place. */
import { ifPossible } from "../../../core/text/errors";
import { leavesOf } from "../../../dialect/learn/values";
import { compilePointers, findText } from "../../../dialect/pointers";
import { contractRead } from "../enter";
import { speaksOf } from "./notes";
import type { Trial } from "./watch";

/** The id that the answer to a create of the trial's own shows: the text in it at which the resource is found. */
export async function idIn(
  trial: Trial,
  kind: "volume" | "group",
  body: unknown,
  name: string,
  askedAt: number,
): Promise<string | undefined> {
  const { dialect } = trial.report;
  const said = findText(body, compilePointers(dialect.records[kind].id));
  const leaves = leavesOf(body).flatMap(({ value, names: [key = ""] }) => {
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || text === name || !/^[^\s]{1,255}$/.test(text)) return [];
    const last = decodedEnd(text);
    return [{ text, key }, ...(last === undefined ? [] : [{ text: last, key }])];
  });
  const isNamedSo = ({ key }: { readonly key: string }): boolean =>
    /(id|uuid|uid|ref|key|urn|self|href|location)$/.test(key);
  const texts = [...leaves.filter(isNamedSo), ...leaves.filter((leaf) => !isNamedSo(leaf))].map(({ text }) => text);
  const candidates = [...new Set([...(said == null ? [] : [said]), ...texts])].slice(0, 12);
  for (;;) {
    for (const id of candidates) if (await isOwnId(trial, kind, id, name)) return id;
    // A resource may be shown a moment after it was accepted.
    if (candidates.length === 0 || trial.ports.clock.now() - askedAt > trial.ports.timing.discoveryMs) return undefined;
    await trial.wait();
  }
}

/** Whether what was just made has this id, by the operation of the contract that reads it. */
export async function isOwnId(trial: Trial, kind: "volume" | "group", id: string, name: string): Promise<boolean> {
  if (trial.isOfOthers(kind, id)) return false;
  const request = contractRead(kind, id);
  const { outcome, answer } = await trial.ports.doctor.probe(request);
  const isShown = request.operation === "group.rule.list" || (answer !== undefined && speaksOf(answer.text, name));
  return outcome.status === "accepted" && isShown;
}

/** What a link ends with. */
function decodedEnd(text: string): string | undefined {
  const last = /\/([^/?#]+)\/?$/.exec(text)?.[1];
  return ifPossible(() => (last === undefined ? undefined : decodeURIComponent(last)));
}
