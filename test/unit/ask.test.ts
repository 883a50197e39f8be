/** The question before a plan is carried out: only a yes is a yes, whatever else ends it. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ask, askForSecret } from "../../reconciler/cli/ask";

it("a secret word is read by us key by key, so that the terminal does not show it", async () => {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (mode: boolean) => modes.push(mode),
  });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const answer = askForSecret("Your passphrase:", new AbortController().signal, input, output);
  input.write("correct horse\r");
  expect(await answer).toBe("correct horse");
  expect(modes).toEqual([true, false]);
  expect(String(output.read())).toBe("Your passphrase: \n");
});

describe("the answer to a question", () => {
  it.each([
    ["y", "y\n", true],
    ["yes", "yes\n", true],
    ["Yes, with spaces", "  YES \n", true],
    ["no", "no\n", false],
    ["nothing", "\n", false],
    ["a word that begins like yes", "yesterday\n", false],
    ["Ctrl-C", "\u0003", false],
    ["Ctrl-D", "\u0004", false],
    ["Ctrl-C after a yes that was not sent", "yes\u0003", false],
  ])("at a terminal: %s", async (_, typed, expected) => {
    const input = new PassThrough();
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    const answer = ask("Apply this plan?", new AbortController().signal, input, output);
    input.write(typed);
    expect(await answer).toBe(expected);
    expect(String(output.read())).toContain("Apply this plan? [y/N] ");
  });

  it("is no when the terminal goes away", async () => {
    const input = new PassThrough();
    const answer = ask("Apply this plan?", new AbortController().signal, input, new PassThrough());
    input.end();
    expect(await answer).toBe(false);
  });

  it("is no when the run is told to stop while it waits, or was before", async () => {
    const stop = new AbortController();
    const waiting = ask("Apply this plan?", stop.signal, new PassThrough(), new PassThrough());
    stop.abort();
    expect(await waiting).toBe(false);
    expect(await ask("Apply this plan?", stop.signal, new PassThrough(), new PassThrough())).toBe(false);
  });
});
