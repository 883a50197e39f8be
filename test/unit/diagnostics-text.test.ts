import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { Diagnostic } from "../../reconciler/core/model/diagnostic";
import { diagnosticsText } from "../../reconciler/report/diagnostics-text";

const read = (text: string) => readDesired([{ file: "reconcile.yaml", text }]).diagnostics;

describe("diagnostics for people", () => {
  it("show the place, the line, the caret, what was expected and what to do", () => {
    expect(diagnosticsText(read("version: 1\nvms:\n  web: { flavour_id: m1 }\nproject: 7\n"))).toContain(
      `error[config/unknown-key]: the key flavour_id is not known here
 --> reconcile.yaml:3:10
  |
3 |   web: { flavour_id: m1 }
  |          ^^^^^^^^^^
  = expected: one of after_attach, after_ready, enabled, flavor_id, flush, for_each, image_id, lifecycle, max_unavailable, name, owner, power, project, region, root_size, size, skip_floating_ip, ssh, user_id
  = fix: write flavor_id
`,
    );
  });
  it("point at the place also behind signs of two columns, and cut none in two", () => {
    const text = `groups: { web: { description: "日本", foo: "${"😀".repeat(110)}" } }`;
    const [, , , line, caret] = diagnosticsText(read(`version: 1\n${text}\n`)).split("\n");
    expect(line).toBe(`2 | groups: { web: { description: "日本", foo: "${"😀".repeat(99)}`);
    expect(caret).toBe(`  | ${" ".repeat(38)}^^^`);
  });
  it("come errors first, and by line", () => {
    const text = "version: 1\nvolumes:\n  big: { size: 2000 }\n  bad: { size: x }\n";
    const heads = diagnosticsText(read(text))
      .split("\n")
      .filter((line) => /^\w+\[/.test(line));
    expect(heads).toEqual([
      'error[config/invalid-value]: size cannot be "x"',
      "warning[config/size-over-limit]: a size of 2000 GB is more than the service's console accepts",
    ]);
  });
  it("show one problem of many resources once, with all of them", () => {
    const unknown = (address: string): Diagnostic => ({
      severity: "error",
      code: "plan/region-unknown",
      summary: "region moon-1 is no region of this service",
      address,
      source: { file: "reconcile.yaml", line: 9 },
    });
    expect(diagnosticsText(["vm.a", "vm.b", "vm.c"].map(unknown))).toBe(
      `error[plan/region-unknown]: region moon-1 is no region of this service
 --> reconcile.yaml:9
  = address: vm.a
  = also: vm.b, vm.c
`,
    );
    expect(diagnosticsText(Array.from({ length: 100 }, (_, index) => unknown(`vm.${index}`)))).toContain(
      "= also: vm.1, vm.10, vm.11, vm.12 and 95 more\n",
    );
  });
  it("are coloured only when told", () => {
    const problems = read("version: 2");
    expect(diagnosticsText(problems)).not.toContain("\u001b");
    expect(diagnosticsText(problems, { color: true })).toContain("\u001b[1;31merror[config/version]\u001b[0m");
  });
  it("never pass on a control character of the file", () => {
    for (const text of [
      "version: 1\n\u001b[2J: x\n",
      'version: 1\n"\\e[2J": \u009bx\n',
      "version: 1\nvms: { web: { name: \u202eabc } }",
    ]) {
      const shown = diagnosticsText(read(text));
      expect(shown).not.toBe("");
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });
  it("fit a terminal, and are whole lines elsewhere", () => {
    const long = {
      severity: "note",
      code: "plan/group-names-unobserved",
      summary: "names and descriptions of security groups are not observed: this service shows only their rules",
      fix: "a dialect with group.get or group.list, if this service has one of them and nobody has said so yet",
    } as const;
    const narrow = diagnosticsText([long], { width: 80 });
    expect(narrow.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(narrow.replaceAll(/\s+/g, " ")).toContain(`${long.summary} = fix: ${long.fix}`);
    expect(diagnosticsText([long]).split("\n")).toHaveLength(3);
  });
  it("are nothing when there are none", () => {
    expect(diagnosticsText([])).toBe("");
  });
});
