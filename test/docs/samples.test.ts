import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type OpenFile, readDesired } from "../../reconciler/config/read/desired";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { root } from "../support/cli-process";

const documents = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

interface Sample {
  readonly place: string;
  readonly body: string;
  /** What it becomes, where the document says so. */
  readonly file?: string;
}

const samplesIn = (language: string): Sample[] =>
  documents.flatMap((document) =>
    [
      ...readFileSync(join(root, document), "utf8").matchAll(
        new RegExp(`(?:^<!-- file: (\\S+) -->\\n+)?^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"),
      ),
    ].map(([, file, body], index) => ({
      place: `${document}, ${language} block ${index + 1}`,
      body: body!,
      ...(file === undefined ? {} : { file }),
    })),
  );

const yaml = samplesIn("yaml");

describe("a block that begins with `version: 1` is a desired state without an error", () => {
  const whole = yaml.filter(({ body }) => /^version: 1$/m.test(body));
  it.each(whole.map(({ place, body }) => [place, body]))("%s", (place, body) => {
    // A file that one of them names is a block of its document; with environments, each is read.
    const open: OpenFile = (path) => {
      const text = yaml.find(
        (other) => other.place.startsWith(place.split(",")[0] ?? "") && other.file?.endsWith(path.replace(/^\.\//, "")),
      )?.body;
      return text === undefined ? { problem: `no block is ${path}` } : { source: { file: path, text } };
    };
    const { environments = [] } = readDesired([{ file: place, text: body }], { open });
    const chosen = environments.length === 0 ? [{}] : environments.map((env) => ({ env }));
    const diagnostics = chosen.flatMap(
      (env) => readDesired([{ file: place, text: body }], { open, ...env }).diagnostics,
    );
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  });
  it("finds some", () => {
    expect(whole.length).toBeGreaterThan(3);
  });
});

describe("a block with operations or records is a dialect without an error", () => {
  const dialects = yaml.filter(({ body }) => /^(operations|records):$/m.test(body));
  it.each(dialects.map(({ place, body }) => [place, body]))("%s", (place, body) => {
    expect(readDialectText(body, place).diagnostics).toEqual([]);
  });
});

describe("a symptom of docs/trouble.md is in the words of the program", () => {
  const source = readdirSync(join(root, "reconciler"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("generated"))
    .map((name) => readFileSync(join(root, "reconciler", name), "utf8"))
    .join("\n");
  const symptoms = [...readFileSync(join(root, "docs/trouble.md"), "utf8").matchAll(/^\| `([^`]+)` \|/gm)];
  it.each(symptoms.map(([, symptom = ""]) => symptom))("%s", (symptom) => {
    // What differs from case to case stands between the words.
    expect(symptom.split(/ ?… ?/).filter((words) => !source.includes(words))).toEqual([]);
  });
});

describe("any other block is at least YAML or JSON", () => {
  const rest = [...yaml, ...samplesIn("json")];
  it.each(rest.map(({ place, body }) => [place, body]))("%s", (_place, body) => {
    expect(() => parse(body)).not.toThrow();
  });
});
