/**
 * What a program is told names no command of `reconcile`, which knows nothing of a stack: whatever the code of the
 * message, and whatever text somebody writes next in a module that the provider loads.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { hiding } from "../../provider/secrets";
import { commands } from "../../reconciler/cli/registry";
import { type Command, toAsk, told, toRun, toSay, toWrite } from "../../reconciler/core/model/fix";
import { sentence } from "../../reconciler/one/handler";
import { inProgramWords } from "../../reconciler/one/words";
import { explanations } from "../../reconciler/report/generated/explanations";

const root = resolve(__dirname, "../..");
const names = [...new Set(Object.keys(commands).map((name) => name.split(" ")[0]))];
const named = new RegExp(`\\breconcile (?:${names.join("|")})\\b`);

describe("the words of a program", () => {
  const each: { readonly [Name in Command[0]]: Extract<Command, readonly [Name, ...unknown[]]> } = {
    import: ["import", "vm.db", "ID"],
    "state rm": ["state rm", "vm.db"],
    "state mv": ["state mv", "vm.db", "vm.app"],
    "state resolve": ["state resolve", "vm.db", "--not-created"],
    "orphans list": ["orphans list"],
    "orphans delete": ["orphans delete", "ID"],
    owe: ["owe", "vm.db"],
    init: ["init"],
    doctor: ["doctor"],
    show: ["show", "change.plan.json"],
    apply: ["apply", "--replace", "vm.db"],
  };

  it("call a volume by the name that the program gave it", () => {
    expect(inProgramWords("volume.other-1 cannot shrink")).toBe("volume other-1 cannot shrink");
    expect(inProgramWords("volume.other_1 cannot shrink")).toBe("a volume of the VM cannot shrink");
  });

  it("call the next run an update", () => {
    expect(inProgramWords("delete the group with the next apply.")).toBe("delete the group with the next update.");
  });

  it("name no command, whatever the code", () => {
    const all = Object.values(each).flatMap((command) => [
      toRun(command),
      toRun(command, "it exists"),
      toSay(["then: ", command], "then run the update again"),
      toSay(["then: ", command], undefined),
    ]);
    const parts = [...all, toWrite("moved: []"), toAsk("another name")];
    for (const code of Object.keys(explanations) as (keyof typeof explanations)[])
      for (const fix of [...parts.map((part) => [part]), parts]) {
        const said = sentence({ severity: "error", code, summary: "it is so", ...told(fix) });
        expect([code, said]).toEqual([code, expect.not.stringMatching(named)]);
      }
    const error = { severity: "error", code: "service/unavailable", summary: "it is so" } as const;
    expect(sentence({ ...error, ...told([toRun(each.owe)]) })).toBe("it is so");
    expect(sentence({ ...error, ...told(all.slice(2, 3)) })).toBe("it is so — then run the update again");
  });

  it.each(["apply/flush-failed", "consent/flush", "consent/recreate", "service/insecure-http"] as const)(
    "name no flag: %s",
    (code) =>
      expect(sentence({ severity: "error", code, summary: "it is so", fix: "give --flag" })).not.toContain("--"),
  );

  it("are those of every module that the provider loads", () => {
    const reached = modulesFrom(["plugin", "dynamic", "desired-state", "index"].map((name) => `provider/${name}.ts`));
    expect(reached.length).toBeGreaterThan(200);
    // Reports and documents of the command line, and what a lock says of its holder.
    const isForCommandLine = (file: string): boolean =>
      /^reconciler\/(report\/|store\/http\.ts|kinds\/\w+\/calls\.ts)/.test(file);
    const found = reached
      .filter((file) => !isForCommandLine(file))
      .flatMap((file) =>
        textsIn(file)
          .filter((text) => named.test(text))
          .map((text) => `${file}: ${text}`),
      );
    // Such a text is made of parts, which each door tells in its own words: core/model/fix.ts.
    expect(found).toEqual([]);
  });
});

describe("a secret in a message", () => {
  it.each([
    ["203.0.113.77/24", "add a rule: tcp 22 from 203.0.113.0/24", "add a rule: tcp 22 from [secret]"],
    ["2001:DB8:0::7", "from 2001:db8::7/128, 2001:db8::7", "from [secret], [secret]"],
    ["Web-Front", "create VM web-front", "create VM [secret]"],
    ["10", "grow from 10 to 100 GB", "grow from [secret] to 100 GB"],
  ])("is hidden however a plan writes it: %s", (secret, text, hidden) => {
    expect(hiding([{ nested: [secret] }])(text)).toBe(hidden);
  });
});

function modulesFrom(entries: readonly string[]): string[] {
  const seen = new Set<string>();
  const open = entries.map((entry) => join(root, entry));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    const imports = /(?:^|\n)(?:import|export)(\s+type)?\b[^;]*?from "(\.[^"]+)"|(?:require|import)\("(\.[^"]+)"\)/g;
    for (const [, type, from, loaded] of text.matchAll(imports)) {
      const path = resolve(dirname(file), from ?? loaded ?? "");
      const next = [`${path}.ts`, join(path, "index.ts")].find((one) => existsSync(one));
      if (type === undefined && next !== undefined) open.push(next);
    }
  }
  return [...seen].map((file) => relative(root, file)).sort();
}

function textsIn(file: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node))
      texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(root, file), "utf8"), ts.ScriptTarget.Latest, true));
  return texts;
}
