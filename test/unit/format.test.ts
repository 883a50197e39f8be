import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { setIn } from "../../reconciler/config/edit-text";
import { formatYaml } from "../../reconciler/config/format";
import { readDesired } from "../../reconciler/config/read/desired";
import { starterText } from "../../reconciler/config/starter";

const textOf = (text: string): string => {
  const formatted = formatYaml(text);
  if ("problem" in formatted) throw new Error(formatted.problem);
  return formatted.text;
};

const untidy = `# yaml-language-server: $schema=x
project: 'acme'
version: 1
vms:
    # the database
    db: { size: 10, name: 'db-1', user_id: '1042', flavor_id: "m1.small" }   # small


    web:
        lifecycle: {prevent_destroy: true}
        for_each: [a,b]
        # its name
        name: "web-\${each}"
        size: 5
region: in-west-1
# groups here
groups:
  front:
    rules:
    - {remote_ip: 0.0.0.0/0, protocol: tcp, dst_port: 443}
    description: "yes"
`;

const tidy = `# yaml-language-server: $schema=x
version: 1
project: acme
region: in-west-1
vms:
  # the database
  db: { name: db-1, flavor_id: m1.small, user_id: "1042", size: 10 } # small

  web:
    for_each: [a, b]
    # its name
    name: "web-\${each}"
    size: 5
    lifecycle: { prevent_destroy: true }
# groups here
groups:
  front:
    description: "yes"
    rules:
      - { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }
`;

describe("a file in its usual form", () => {
  it("a section with a name that objects inherit stays as it is", () => {
    const text = "version: 1\nconstructor:\n  a: { z: 1, b: 2 }\n";
    expect(textOf(text)).toBe(text);
  });

  it("keeps the line ends of Windows, also behind comments that stand alone", () => {
    const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
    expect(textOf(crlf(untidy))).toBe(crlf(tidy));
    expect(textOf(crlf("vms:\n  db: {}\n\n  # one\n\n# two\n"))).toBe(crlf("vms:\n  db: {}\n  # one\n\n  # two\n"));
  });

  it("has its sections and fields in order, quotes where they are needed, and every comment", () => {
    expect(textOf(untidy)).toBe(tidy);
    expect(textOf(tidy)).toBe(tidy);
  });

  it("is the form of every file of the examples", () => {
    const examples = join(__dirname, "../../examples");
    const files = readdirSync(examples, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.ya?ml$/.test(name) && !/^(fleet|gitops|pulumi-\w+-language)\b|node_modules/.test(name))
      .map((name) => ({ name, text: readFileSync(join(examples, name), "utf8") }))
      .filter(({ text }) => /^(?:version|component): 1$/m.test(text));
    expect(files.length).toBeGreaterThan(12);
    expect(files.filter(({ text }) => textOf(text) !== text).map(({ name }) => name)).toEqual([]);
  });

  it("says the same, for every example, and is formatted once and for all", () => {
    const examples = join(__dirname, "../../examples");
    for (const name of readdirSync(examples)) {
      const file = join(examples, name, "reconcile.yaml");
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch {
        continue;
      }
      const formatted = textOf(text);
      expect(textOf(formatted), name).toBe(formatted);
      const read = (source: string) =>
        JSON.stringify(readDesired([{ file, text: source }]).desired ?? null).replace(/"(line|column)":\d+/g, "");
      expect(read(formatted), name).toBe(read(text));
      for (const comment of text.match(/(?<=^|\s)# .+$/gm) ?? []) expect(formatted).toContain(comment.trim());
    }
  });

  it("is the form of the file that init writes", () => {
    const starter = starterText("x");
    expect(textOf(starter)).toBe(starter);
  });

  it.each(["0123", "0777", "1e400", "12345678901234567890", "0x1F", "0o17", ".5", "1_000", "1.50"])(
    "keeps the number %s as it is written, for validate to judge it",
    (number) => {
      const text = `version: 1\nproject: ${number}\nvars:\n  a: { default: ${number} }\n`;
      expect(formatYaml(text)).toEqual({ text });
    },
  );

  it("says nothing beside its answer of a key that is a map, as {{ name }} without quotes is", () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    textOf("size: {{ size }}\n");
    setIn("size: {{ size }}\n", ["name"], "web");
    expect(warned.mock.calls).toEqual([]);
    warned.mockRestore();
  });

  it("leaves the order of a file with aliases, and a file that is no YAML, as they are", () => {
    expect(textOf("b: &x 1\na: *x\n")).toBe("b: &x 1\na: *x\n");
    expect(formatYaml("vms: [\n")).toMatchObject({ problem: expect.any(String) });
  });

  it.each([
    ["a state", '{\n"format":"reconcile-cloud/state",\n"version":1}\n'],
    ["a saved plan", '{ "version": 1, "format": "reconcile-cloud/plan" }\n'],
    ["a journal", '0123456789abcdef {"n":1,"e":1}\n0123456789abcdef {"n":2,"e":1}\n'],
  ])("leaves %s as it is", (_, text) => {
    expect(formatYaml(text)).toMatchObject({
      problem: "it is no file that people write",
      fix: expect.stringMatching(/^leave it out/),
    });
  });
});
