/** A value that is set, taken out or added in a YAML text changes no other byte: files of many styles, by chance. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { acceptInBlock, type Edit } from "../../reconciler/config/accept";
import { runs } from "./random-desired";

const blank = fc.constantFrom("", " ", "  ");
const remark = fc.constantFrom("", " # kept", "   #  odd   spacing");
const scalar = fc.constantFrom(
  "m1.small",
  "'m1.small'",
  '"m1.small"',
  "5",
  "[198.51.100.0/24,10.0.0.0/8]",
  "[ a,b ]",
  "{ a: 1,b: 2 }",
);
const eol = fc.constantFrom("\n", "\r\n");
const names = ["name", "flavor_id", "size", "owner", "x-note"] as const;

const block = fc.record({
  fields: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), scalar, remark, blank), {
    minLength: 1,
    maxLength: 5,
    selector: ([name]) => name,
  }),
  flow: fc.boolean(),
  indent: fc.constantFrom(2, 4),
  above: fc.constantFrom("", "# above\n", "\n# one\n\n# two\n"),
});
type Block = typeof block extends fc.Arbitrary<infer T> ? T : never;

const written = (key: string, { fields, flow, indent, above }: Block): string => {
  const pad = " ".repeat(indent);
  const head = above.replace(/^(?=#)/gm, pad);
  if (flow)
    return `${head}${pad}${key}: {${fields.map(([name, value, , space]) => `${space}${name}: ${value}${space}`).join(",")}}\n`;
  return `${head}${pad}${key}:\n${fields.map(([name, value, note]) => `${pad}${pad}${name}: ${value}${note}\n`).join("")}`;
};

const rules = fc.record({
  items: fc.array(fc.tuple(fc.integer({ min: 1, max: 99 }), remark, blank), { minLength: 0, maxLength: 4 }),
  style: fc.constantFrom("flow", "lines", "maps", "items" as const),
});
const ruleText = ({ items, style }: typeof rules extends fc.Arbitrary<infer T> ? T : never): string => {
  const each = [...new Map(items.map((item) => [item[0], item])).values()];
  const one = (port: number, space: string): string => `{${space}protocol: tcp,${space}dst_port: "${port}"${space}}`;
  if (style === "flow" || each.length === 0)
    return `    rules: [${each.map(([port, , space]) => one(port, space)).join(", ")}] # list\n`;
  if (style === "lines")
    return `    rules: [\n${each.map(([port, , space]) => `      ${one(port, space)}`).join(",\n")}\n    ]\n`;
  if (style === "maps")
    return `    rules:\n${each.map(([port, note]) => `      - protocol: tcp${note}\n        dst_port: ${port}\n`).join("")}`;
  return `    rules: # list\n${each.map(([port, note, space]) => `    - ${one(port, space)}${note}\n`).join("")}`;
};

const file = fc
  .record({ first: block, meant: block, last: block, rules, end: eol, tail: fc.constantFrom("", "# the end", "\n\n") })
  .map(({ first, meant, last, rules: listed, end, tail }) => ({
    meant,
    text: `# top\nversion:   1\nvms:\n${written("first", { ...first, indent: 2 })}${written("meant", { ...meant, indent: 2 })}${written("last", { ...last, indent: 2 })}groups:\n  web:   # group\n${ruleText(listed)}\n${tail}`.replaceAll(
      "\n",
      end,
    ),
  }));

/** The part of the one that the other lacks, with what stands in its place. */
function difference(before: string, after: string): { readonly out: string; readonly in: string } {
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let back = 0;
  while (back < before.length - from && back < after.length - from && before.at(-1 - back) === after.at(-1 - back))
    back++;
  return { out: before.slice(from, before.length - back), in: after.slice(from, after.length - back) };
}

// biome-ignore lint/suspicious/noExplicitAny: what the test wrote itself
type Data = any;

describe("an edit of a file", () => {
  it("changes the value that is meant, and no other byte", () => {
    let done = 0;
    let tried = 0;
    fc.assert(
      fc.property(
        file,
        fc.constantFrom<Edit["value"]>("m1.large", "by hand: it's", 7, true, undefined),
        fc.constantFrom(...names),
        ({ text }, value, field) => {
          const edit: Edit = { section: "vms", key: "meant", field, ...(value === undefined ? {} : { value }) };
          const edited = acceptInBlock(text, edit);
          tried++;
          if ("problem" in edited) return;
          done++;
          const before: Data = parse(text);
          const meant = structuredClone(before);
          if (value === undefined) delete meant.vms.meant[field];
          else meant.vms.meant[field] = value;
          expect(parse(edited.text)).toEqual(meant);
          const changed = difference(text, edited.text);
          const remarks = (some: string): number => some.split("#").length;
          expect(remarks(changed.in)).toBe(1);
          // A field that is taken out takes the remark on its line along.
          expect(remarks(changed.out)).toBeLessThanOrEqual(value === undefined ? 2 : 1);
          expect(changed.in.split("\n").length).toBeLessThanOrEqual(2);
        },
      ),
      runs(300),
    );
    expect(done).toBeGreaterThan(tried * 0.9);
  });

  it("adds and takes out the rule that is meant, and no other byte", () => {
    let done = 0;
    let tried = 0;
    fc.assert(
      fc.property(file, fc.boolean(), fc.integer({ min: 0, max: 3 }), ({ text }, adds, index) => {
        const before: Data = parse(text);
        const there: Data[] = before.groups.web.rules ?? [];
        const one = there[index];
        if (!adds && one === undefined) return;
        const fields = adds ? { protocol: "tcp", dst_port: "8443" } : one;
        const rule = { is: adds ? "added" : "removed", fields } as const;
        const edited = acceptInBlock(text, { section: "groups", key: "web", field: "rules", rule });
        tried++;
        if ("problem" in edited) return;
        done++;
        const meant = adds ? [...there, fields] : there.filter((_, at) => at !== index);
        expect(parse(edited.text)).toEqual({ ...before, groups: { web: { rules: meant } } });
        const changed = difference(text, edited.text);
        expect(changed.in.split("#").length).toBe(1);
      }),
      runs(300),
    );
    expect(done).toBeGreaterThan(tried * 0.9);
  });
});
