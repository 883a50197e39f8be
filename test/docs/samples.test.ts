import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readDesired } from "../../reconciler/config/read-desired";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { root } from "../support/cli-process";

const documents = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

interface Sample {
  readonly place: string;
  readonly body: string;
}

const samplesIn = (language: string): Sample[] =>
  documents.flatMap((document) =>
    [
      ...readFileSync(join(root, document), "utf8").matchAll(
        new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"),
      ),
    ].map(([, body], index) => ({ place: `${document}, ${language} block ${index + 1}`, body: body! })),
  );

const yaml = samplesIn("yaml");

describe("a block that begins with `version: 1` is a desired state without an error", () => {
  const whole = yaml.filter(({ body }) => /^version: 1$/m.test(body));
  it.each(whole.map(({ place, body }) => [place, body]))("%s", (place, body) => {
    const { diagnostics } = readDesired([{ file: place, text: body }]);
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

describe("any other block is at least YAML or JSON", () => {
  const rest = [...yaml, ...samplesIn("json")];
  it.each(rest.map(({ place, body }) => [place, body]))("%s", (_place, body) => {
    expect(() => parse(body)).not.toThrow();
  });
});
