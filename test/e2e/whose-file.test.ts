/**
 * Whose file may name what: each cell of the table in docs/safety.md, tried. A file names something, and what counts is
 * the effect: whether the program ran, whether the credential arrived, whether what lies outside was read.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { root, runCli } from "../support/cli-process";
import { planClosed } from "../support/fleet-stage";
import { makeFolder, writeFiles } from "../support/folder";
import { converse } from "./json-rpc-clients";

interface Named {
  /** A service that answers, where the file names none of its own. */
  readonly service: string;
  /** A service that keeps what it was sent. */
  readonly canary: string;
  /** A folder outside of the checkout. */
  readonly outside: string;
}

interface Row {
  /** The desired state, apart from its version. */
  readonly file: (named: Named) => object;
  /** The credential is what the file's own program prints. */
  readonly withoutToken?: true;
  /** What shows that it was obeyed, in the output, the folder or at the canary. */
  readonly obeyed: (seen: Seen) => boolean;
}

interface Seen {
  readonly output: string;
  readonly ran: boolean;
  readonly heard: readonly string[];
}

const touch = ["sh", "-c", "touch ran; echo '[]'"];
/** Asks the service for something, so that the credential is needed. */
const asking = {
  lookups: { legacy: { vm: { name: "legacy" } } },
  groups: { web: { description: "${lookup.legacy.id}" } },
};
const rows: Readonly<Record<string, Row>> = {
  "a program (policy, flush, check, `after_ready`, `after_attach`)": {
    file: ({ service }) => ({ service: { base_url: service }, groups: { web: {} }, policy: { command: touch } }),
    obeyed: ({ ran }) => ran,
  },
  "the helper of a dialect": {
    file: ({ service }) => ({
      service: { base_url: service, dialect: { authorization: { command: touch } } },
      ...asking,
    }),
    withoutToken: true,
    obeyed: ({ ran }) => ran,
  },
  "`base_url`": {
    file: ({ canary }) => ({
      service: { base_url: canary },
      ...asking,
    }),
    obeyed: ({ heard }) => heard.some((one) => one.includes("canary-token")),
  },
  "`state`, `reads`": {
    file: ({ service, outside }) => ({
      service: { base_url: service },
      reads: { other: { state: join(outside, "state.json") } },
      groups: { web: { description: "${read.other.word}" } },
    }),
    obeyed: ({ output }) => output.includes("outside-word"),
  },
  "components, `vars_file`, links": {
    file: ({ service, outside }) => ({
      service: { base_url: service },
      components: { part: { from: join(outside, "part.yaml") } },
    }),
    obeyed: ({ output }) => output.includes("outside-group"),
  },
  "a dialect": {
    // The dialect of this file says where the credential goes, and how.
    file: ({ service, outside }) => ({
      service: { base_url: service, dialect: join(outside, "odd.dialect.yaml") },
      ...asking,
    }),
    withoutToken: true,
    obeyed: ({ ran }) => ran,
  },
};

const columns = {
  "your terminal": true,
  "an outsider's change in a pipeline (`RECONCILE_PROGRAMS=none`)": false,
  MCP: false,
  "a fleet of several tenants": false,
} as const;
type Column = keyof typeof columns;

let emulator: RunningEmulator;
const heard: string[] = [];
const canary = createServer((request, answer) => {
  heard.push(`${request.url} ${request.headers.authorization}`);
  answer.writeHead(200, { "content-type": "application/json" }).end("[]");
});
beforeAll(async () => {
  emulator = await startEmulator({ timeScale: 0 });
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await emulator.close();
  canary.close();
});

/** A checkout with the file, and what lies outside of it. */
async function laidOut({
  file,
}: Row): Promise<{ readonly folder: string; readonly outside: string; readonly text: string }> {
  const outside = makeFolder();
  const service = emulator.url;
  writeFiles(outside, {
    "part.yaml": "component: 1\ngroups: { outside-group: {} }\n",
    "odd.dialect.yaml": JSON.stringify({ authorization: { command: touch } }),
    "reconcile.yaml": `version: 1\nservice: { base_url: embedded }\nstate: ./state.json\noutputs: { word: { value: outside-word } }\n`,
  });
  expect((await runCli(["apply", "-y", "--state", "state.json"], { cwd: outside })).exitCode).toBe(0);
  const folder = makeFolder({ ".git/HEAD": "" });
  const named = { service, canary: `http://127.0.0.1:${(canary.address() as AddressInfo).port}`, outside };
  return { folder, outside, text: JSON.stringify({ version: 1, project: "acme", ...file(named) }) };
}

type Token = { readonly RECONCILE_TOKEN: string };
const settings: Readonly<Record<Column, (folder: string, text: string, token: Token) => Promise<string>>> = {
  "your terminal": async (folder, text, token) => {
    writeFileSync(join(folder, "reconcile.yaml"), text);
    const { stdout, stderr } = await runCli(["plan"], { cwd: folder, env: token });
    return stdout + stderr;
  },
  "an outsider's change in a pipeline (`RECONCILE_PROGRAMS=none`)": async (folder, text, token) => {
    writeFileSync(join(folder, "reconcile.yaml"), text);
    // The pipeline says where the service is, unless the file is to say it.
    const own: Record<string, string> = text.includes(emulator.url) ? { RECONCILE_BASE_URL: emulator.url } : {};
    const env = { ...token, ...own, RECONCILE_PROGRAMS: "none" };
    const { stdout, stderr } = await runCli(["plan"], { cwd: folder, env });
    return stdout + stderr;
  },
  MCP: async (folder, text, token) => {
    writeFileSync(
      join(folder, "reconcile.yaml"),
      `version: 1\nproject: acme\nservice: { base_url: "${emulator.url}" }\n`,
    );
    let said = "";
    await converse(
      folder,
      undefined,
      async (tool) => {
        // It has started, and knows what the file said then.
        await tool("validate");
        writeFileSync(join(folder, "reconcile.yaml"), text);
        said = (await tool("plan")).text;
      },
      token,
    );
    return said;
  },
  "a fleet of several tenants": (folder, text, token) => {
    writeFileSync(join(folder, "reconcile.yaml"), text);
    return planClosed(folder, text.includes(emulator.url) ? emulator.url : undefined, token.RECONCILE_TOKEN);
  },
};

describe.each(Object.entries(rows))("%s that a file names", (_, row) => {
  it.each(Object.entries(columns))("in %s is obeyed: %s", async (column, isObeyed) => {
    const { folder, outside, text } = await laidOut(row);
    heard.length = 0;
    // Its keys are those of the settings.
    const token = { RECONCILE_TOKEN: row.withoutToken === true ? "" : "canary-token" };
    const output = await settings[column as Column](folder, text, token);
    const seen = { output, ran: [folder, outside].some((place) => existsSync(join(place, "ran"))), heard: [...heard] };
    expect([row.obeyed(seen), output]).toEqual([isObeyed, expect.anything()]);
    // What is not obeyed is said.
    if (!isObeyed)
      expect(output).toMatch(
        /was not run|starts no program|may not read|not started|is not read|where the credential|names? an? (program|address)|outside of|is not permitted|not sent/,
      );
  });
});

it("the table of the document has these rows and columns", () => {
  const text = readFileSync(join(root, "docs/safety.md"), "utf8");
  const table = text
    .slice(text.indexOf("## Whose file may name what"))
    .split("\n")
    .filter((line) => line.startsWith("|"));
  const cells = (line: string): string[] =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  expect(cells(table[0] ?? "").slice(1)).toEqual(Object.keys(columns));
  expect(table.slice(2, 2 + Object.keys(rows).length).map((line) => cells(line)[0])).toEqual(Object.keys(rows));
});
