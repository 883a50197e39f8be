/** `reconcile lsp` with a client of the protocol, and in a real Neovim. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CompletionItem, Diagnostic, Hover, Location, WorkspaceEdit } from "vscode-languageserver-protocol";
import { collectProblems } from "../../reconciler/config/problems";
import { readYaml } from "../../reconciler/config/yaml/reader";
import type { RecordedResource } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { cursorAt } from "../../reconciler/editor/cursor";
import { hover } from "../../reconciler/editor/hover";
import { namesInFile } from "../../reconciler/editor/names";
import { type EditedProject, projectFile } from "../../reconciler/editor/project";
import { type Renamed, renameName } from "../../reconciler/editor/rename";
import { cliPath, jsonLines, root, runCli } from "../support/cli-process";
import { waitLimitMs } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { applied, startEditor } from "./json-rpc-clients";

const head = `version: 1
project: acme
region: in-west-1
service: { base_url: embedded, timing: { poll_interval: 5ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;
const shop = `${head}vars: { size: { default: 5 } }
vms:
  # the database
  db: { name: shop-db }
  web:
    for_each: [a, b]
    flavor_id: m1.large
volumes:
  data: { size: "\${var.size}", attach_to: db }
groups:
  web: { name: shop-web, rules: [{ protocol: tcp, dst_port: 443 }] }
  db:
    name: shop-db
    rules:
      - { protocol: tcp, dst_port: 5432, remote_group: web }
components:
  lb: { from: ./components/lb.yaml, with: { port: 80 } }
outputs:
  ip: "\${vm.db.private_ip}"
  lb: "\${component.lb.name}"
`;
const lb = `component: 1
parameters: { port: { type: number } }
groups: { lb: { name: "lb-\${component}", rules: [{ protocol: tcp, dst_port: "\${param.port}" }] } }
outputs: { name: "\${group.lb.name}" }
`;
const project = () => makeFolder({ "reconcile.yaml": shop, "components/lb.yaml": lb });
/** A project of files by their names; `r.yaml` is the desired state. */
const edited = (texts: Record<string, string>): EditedProject => ({
  main: ["r.yaml"],
  files: new Map(
    Object.entries(texts).map(([file, text]) => [file, projectFile(readYaml({ file, text }, collectProblems()))]),
  ),
  desired: new Map(),
  besides: String,
});
/** A message may be Markdown; this server writes text. */
const messageOf = ({ message }: Diagnostic): string => (typeof message === "string" ? message : message.value);
const words = (items: CompletionItem[]) => items.map(({ label }) => label);

describe("reconcile lsp", () => {
  it("shows the problems of validate while somebody types, in every file that they are in", async () => {
    const folder = project();
    const editor = await startEditor(folder);
    await editor.open("reconcile.yaml");
    await editor.problemsOf("reconcile.yaml", (found) => found.length === 0);
    const line = shop.split("\n").findIndex((one) => one.includes("attach_to: db"));
    const character = shop.split("\n")[line]!.indexOf(": db }") + 3;
    await editor.change("reconcile.yaml", {
      range: { start: { line, character }, end: { line, character } },
      text: "d",
    });
    const [problem, ...others] = await editor.problemsOf("reconcile.yaml", (found) => found.length > 0);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code: "config/unknown-reference", severity: 1, source: "reconcile" });
    expect(messageOf(problem!)).toContain("fix: write db");
    expect(problem!.range).toMatchObject({ start: { line }, end: { line, character: character + 2 } });
    // Exactly what the command says of the same text.
    writeFileSync(join(folder, "reconcile.yaml"), shop.replace("attach_to: db", "attach_to: ddb"));
    const { stderr } = await runCli(["validate"], { cwd: folder });
    for (const part of messageOf(problem!).split("\n")) expect(stderr).toContain(part.replace(/^fix: /, ""));
    await editor.change("reconcile.yaml", { text: shop });
    await editor.problemsOf("reconcile.yaml", (found) => found.length === 0);
    // A component is judged with the file that uses it, as it stands in the editor and not on the disk.
    await editor.open("components/lb.yaml", lb.replace("param.port", "param.prot"));
    await editor.problemsOf("components/lb.yaml", (found) => found.some((one) => messageOf(one).includes("prot")));
    await editor.change("components/lb.yaml", { text: lb });
    await editor.problemsOf("components/lb.yaml", (found) => found.length === 0);
    expect(await editor.end()).toEqual({ exitCode: 0, stderr: "" });
  });

  it("judges each environment, a component that nothing uses, and no file of other programs", async () => {
    const folder = makeFolder({
      "reconcile.yaml": `${head}environments: { staging: {}, prod: {} }\nvms: { web: { name: shop-web } }\n`,
      "lonely/part.yaml": "component: 1\nparameters: { size: { type: number } }\nvolumes: { data: { size: 0 } }\n",
      "compose.yaml": "version: '3'\nservices: { web: { image: nginx } }\n",
    });
    const editor = await startEditor(folder);
    await editor.open("compose.yaml");
    await editor.open("lonely/part.yaml");
    await editor.open("reconcile.yaml");
    const shared = await editor.problemsOf("reconcile.yaml", (found) => found.length > 0);
    expect(shared.map(({ code }) => code)).toEqual(["config/shared-name"]);
    const lonely = await editor.problemsOf("lonely/part.yaml", (found) => found.length > 0);
    expect(lonely.map(({ code }) => code)).toContain("config/unused-parameter");
    expect(lonely.map(messageOf).join()).not.toContain("no file");
    await expect(editor.ask("textDocument/hover", "compose.yaml", { line: 0, character: 2 })).resolves.toBeNull();
    expect((await editor.end()).stderr).toBe("");
  });

  it("completes references, fields and words, also where the file is no YAML at the moment", async () => {
    const editor = await startEditor(project());
    const offered = async (after: string, file = "reconcile.yaml", whole = shop): Promise<string[]> => {
      const { text, position } = editor.cut(after.includes("|") ? after : `${whole}${after}|`);
      await editor.change(file, { text });
      return words(await editor.ask<CompletionItem[]>("textDocument/completion", file, position));
    };
    await editor.open("reconcile.yaml");
    await editor.open("components/lb.yaml");
    await editor.problemsOf("reconcile.yaml", (found) => found.length === 0);
    expect(await offered(shop.replace("attach_to: db }", "attach_to: |"))).toEqual(["db", "web[a]", "web[b]"]);
    expect(await offered(shop.replace("remote_group: web }", "remote_group: |"))).toEqual(["web", "db", "self"]);
    expect(await offered(shop.replace("${vm.db.private_ip}", "${|"))).toContain("component");
    expect(await offered(shop.replace("${vm.db.private_ip}", "${vm.|"))).toEqual(["db", "web[a]", "web[b]"]);
    expect(await offered(shop.replace("${vm.db.private_ip}", "${vm.db.|"))).toContain("floating_ip");
    expect(await offered(shop.replace("${component.lb.name}", "${component.lb.|"))).toEqual(["name"]);
    expect(await offered(shop.replace("${var.size}", "${var.|"))).toEqual(["size"]);
    expect(await offered(shop.replace("{ port: 80 }", "{ | }"))).toEqual(["port"]);
    expect(await offered(shop.replace("flavor_id: m1.large", "lif|"))).toContain("lifecycle");
    expect(await offered(shop.replace("{ protocol: tcp, dst_port: 443 }", "{ protocol: | }"))).toContain("udp");
    expect(await offered("che")).toContain("checks");
    expect(await offered("imports:\n  - { to: ")).toContain("vm.web[a]");
    expect(await offered("reachability:\n  - never:\n      to: ")).toEqual(
      expect.arrayContaining(["group.db", "vm.web[a]", "internet"]),
    );
    expect(await offered(lb.replace("param.port", "param.|"), "components/lb.yaml")).toEqual(["port"]);
    // What is chosen stands in place of what was typed.
    const { text, position } = editor.cut(shop.replace("attach_to: db", "attach_to: we|"));
    await editor.change("reconcile.yaml", { text });
    const [item] = await editor.ask<CompletionItem[]>("textDocument/completion", "reconcile.yaml", position);
    expect(item?.textEdit).toMatchObject({ newText: "db", range: { start: { character: position.character - 2 } } });
    expect((await editor.end()).stderr).toBe("");
  });

  it("counts places in a file with a mark of the byte order as editors do", async () => {
    const parts = {
      "a.yaml": `${head}vms: { web: { name: shop-web } }\n`,
      "b.yaml": "version: 1\nvolumes:\n  data: { size: 5, attach_to: web }\n",
    };
    const editor = await startEditor(makeFolder({ ...parts, "b.yaml": `\ufeff${parts["b.yaml"]}` }));
    await editor.open("a.yaml");
    const { position } = editor.cut(parts["a.yaml"].replace("web:", "w|eb:"));
    const uses = await editor.ask<Location[]>("textDocument/references", "a.yaml", position, {
      context: { includeDeclaration: false },
    });
    const [start, end] = [30, 33].map((character) => ({ line: 2, character }));
    expect(uses).toEqual([{ uri: editor.uriOf("b.yaml"), range: { start, end } }]);
    const edit = await editor.ask<WorkspaceEdit>("textDocument/rename", "a.yaml", position, { newName: "front" });
    expect(applied(parts["b.yaml"], edit.changes?.[editor.uriOf("b.yaml")] ?? [])).toContain("attach_to: front }");
    expect((await editor.end()).stderr).toBe("");
  });

  it("goes to definitions and references, into components as well", async () => {
    const folder = project();
    const editor = await startEditor(folder);
    await editor.open("reconcile.yaml");
    const at = (text: string, file = "reconcile.yaml") => ({ file, ...editor.cut(text) });
    const definition = async ({ file, position }: ReturnType<typeof at>) => {
      const found = await editor.ask<Location | Location[] | null>("textDocument/definition", file, position);
      return [found]
        .flat()
        .map((one) => (one === null ? null : [one.uri.slice(editor.uriOf("").length + 1), one.range.start.line]));
    };
    const lineOf = (text: string, what: string) => text.split("\n").findIndex((line) => line.includes(what));
    expect(await definition(at(shop.replace("attach_to: db", "attach_to: d|b")))).toEqual([
      ["reconcile.yaml", lineOf(shop, "db: { name: shop-db }")],
    ]);
    expect(await definition(at(shop.replace("remote_group: web", "remote_group: we|b")))).toEqual([
      ["reconcile.yaml", lineOf(shop, "web: { name: shop-web")],
    ]);
    expect(await definition(at(shop.replace("var.size", "var.si|ze")))).toEqual([
      ["reconcile.yaml", lineOf(shop, "vars:")],
    ]);
    expect(await definition(at(shop.replace("./components", "./comp|onents")))).toEqual([["components/lb.yaml", 0]]);
    expect(await definition(at(shop.replace("component.lb.name", "component.lb.na|me")))).toEqual([
      ["components/lb.yaml", lineOf(lb, "outputs")],
    ]);
    expect(await definition(at(shop.replace("{ port: 80", "{ po|rt: 80")))).toEqual([
      ["components/lb.yaml", lineOf(lb, "parameters")],
    ]);
    const { position } = at(shop.replace("  db: { name: shop-db }", "  d|b: { name: shop-db }"));
    const uses = await editor.ask<Location[]>("textDocument/references", "reconcile.yaml", position, {
      context: { includeDeclaration: false },
    });
    expect(uses.map(({ range }) => range.start.line)).toEqual([
      lineOf(shop, "attach_to: db"),
      lineOf(shop, "vm.db.private_ip"),
    ]);
    expect((await editor.end()).stderr).toBe("");
  });

  it("says what a change costs and what the state has, and reads the state again when the file is saved", async () => {
    const folder = project();
    const editor = await startEditor(folder);
    await editor.open("reconcile.yaml");
    const told = async (text: string): Promise<string> => {
      const { position } = editor.cut(text);
      const hover = await editor.ask<Hover>("textDocument/hover", "reconcile.yaml", position);
      return JSON.stringify(hover.contents);
    };
    const flavor = shop.replace("flavor_id: m1.large", "flav|or_id: m1.large");
    expect(await told(flavor)).toContain("A change: resized in place");
    expect(await told(flavor)).not.toContain("last looked at");
    expect(await told(shop.replace("attach_to: db", "attach_to: d|b"))).toContain("Not in the state");
    await runCli(["apply", "-y", "--time-scale", "0"], { cwd: folder });
    await editor.save("reconcile.yaml");
    expect(await told(flavor)).toContain("When it was last looked at: `m1.large` (vm.web[a]), `m1.large` (vm.web[b])");
    expect(await told(shop.replace("attach_to: db", "attach_to: d|b"))).toContain("ubuntu-24.04");
    expect(await told(shop.replace("dst_port: 443", "dst_p|ort: 443"))).toContain("port");
    expect((await editor.end()).stderr).toBe("");
  });

  it("tells in a hover no sensitive value, and what a service shows as text", () => {
    const text = `vars: { pw: { sensitive: true, default: open-sesame } }\nvolumes:\n  data:\n    size: 1\n    name: x\n`;
    const source = readYaml({ file: "r.yaml", text }, collectProblems());
    const editing = {
      main: ["r.yaml"],
      files: new Map([["r.yaml", projectFile(source)]]),
      desired: new Map(),
      besides: String,
    };
    const name = "a` ![b](https://c.example) `";
    const record = {
      kind: "volume",
      address: "volume.data",
      id: "v1",
      name,
      sizeGb: 1,
      flush: { via: "ask" },
      preventDestroy: false,
    } as const;
    const state = {
      ...emptyState("0123456789abcdef"),
      resources: new Map<string, RecordedResource>([["volume.data", record]]),
    };
    const schema: unknown = JSON.parse(readFileSync(join(root, "schemas/desired-state.schema.json"), "utf8"));
    const told = (word: string) => {
      const at = text.indexOf(word) + word.length;
      return hover(editing, "r.yaml", at, cursorAt(text, at), schema, new Map([[undefined, state]]));
    };
    expect(told("pw")).toContain("********");
    expect(told("pw")).not.toContain("sesame");
    expect(told("name: x")).toContain(`looked at: \`\` ${name} \`\`.`);
  });

  it("renames a key so that nothing changes but the key: the plan moves it, and no other byte is touched", async () => {
    const folder = project();
    expect((await runCli(["apply", "-y", "--time-scale", "0"], { cwd: folder })).exitCode).toBe(0);
    const editor = await startEditor(folder);
    let text = shop;
    const rename = async (before: string, after: string, newName: string): Promise<void> => {
      const { position } = editor.cut(text.replace(before, after));
      const edit = await editor.ask<WorkspaceEdit>("textDocument/rename", "reconcile.yaml", position, { newName });
      for (const [uri, edits] of Object.entries(edit.changes ?? {})) {
        const file = join(folder, uri.slice(editor.uriOf("").length + 1));
        const now = applied(readFileSync(file, "utf8"), edits);
        writeFileSync(file, now);
        if (file.endsWith("reconcile.yaml")) text = now;
      }
      await editor.change("reconcile.yaml", { text });
    };
    await editor.open("reconcile.yaml");
    await rename("  db: { name: shop-db }", "  d|b: { name: shop-db }", "database");
    // These two take their names in the service from their keys, which are written down.
    await rename("  data: {", "  da|ta: {", "records");
    await rename("  web:\n    for_each", "  we|b:\n    for_each", "front");
    expect(text).toBe(
      `${shop
        .replace("  db: { name: shop-db }", "  database: { name: shop-db }")
        .replace("attach_to: db", "attach_to: database")
        .replace("vm.db.private_ip", "vm.database.private_ip")
        .replace("data: {", "records: { name: data,")
        .replace("  web:\n    for_each: [a, b]\n", '  front:\n    for_each: [a, b]\n    name: "web-${each}"\n')}moved:
  - { from: vm.db, to: vm.database }
  - { from: volume.data, to: volume.records }
  - { from: vm.web, to: vm.front }
`,
    );
    const plan = await runCli(["plan", "--steps"], { cwd: folder });
    expect(plan.exitCode, plan.stdout + plan.stderr).toBe(0);
    expect(plan.stdout).toMatch(/No changes|moved/);
    expect((await runCli(["apply", "-y", "--time-scale", "0"], { cwd: folder })).exitCode).toBe(0);
    expect((await runCli(["plan"], { cwd: folder })).exitCode).toBe(0);
    // The way back turns the move around, for the record has come here, and a key that is taken is refused.
    await rename("  database: {", "  data|base: {", "db");
    expect(text).not.toContain("from: vm.db,");
    expect(text).toContain("  - { from: vm.database, to: vm.db }\n");
    const back = jsonLines((await runCli(["plan", "--json"], { cwd: folder })).stdout);
    expect(back.filter(({ type }) => type === "change")).toMatchObject([
      { address: "vm.db", action: "update", fields: [{ field: "address", before: "vm.database" }] },
    ]);
    await expect(rename("  db: {", "  d|b: {", "null")).rejects.toThrow("YAML reads null");
    await expect(rename("  db: {", "  d|b: {", "1e3")).rejects.toThrow("YAML reads 1000");
    await expect(rename("  db: {", "  d|b: {", "front")).rejects.toThrow("there is a vm front already");
    await expect(rename("  db: {", "  d|b: {", "a.b")).rejects.toThrow("no key");
    // In a component every use of it moves.
    await editor.open("components/lb.yaml");
    const { position } = editor.cut(lb.replace("groups: { lb:", "groups: { l|b:"));
    const edit = await editor.ask<WorkspaceEdit>("textDocument/rename", "components/lb.yaml", position, {
      newName: "balancer",
    });
    const main = applied(text, edit.changes?.[editor.uriOf("reconcile.yaml")] ?? []);
    expect(main).toContain("- { from: lb/group.lb, to: lb/group.balancer }");
    expect(applied(lb, edit.changes?.[editor.uriOf("components/lb.yaml")] ?? [])).toBe(
      lb.replace("{ lb: { name", "{ balancer: { name").replace("group.lb.name", "group.balancer.name"),
    );
    expect((await editor.end()).stderr).toBe("");
  });

  it("keeps a name in the service however the file is written, or refuses the rename", async () => {
    const rename = async (before: string): Promise<string> => {
      const editor = await startEditor(makeFolder());
      const { text, position } = editor.cut(head + before);
      await editor.open("reconcile.yaml", text);
      const edit = await editor
        .ask<WorkspaceEdit>("textDocument/rename", "reconcile.yaml", position, { newName: "front" })
        .finally(() => editor.end());
      return applied(text, edit.changes?.[editor.uriOf("reconcile.yaml")] ?? []);
    };
    const moved = "moved:\n  - { from: vm.web, to: vm.front }\n";
    // Within braces, and beside an alias of what stands elsewhere in the file.
    expect(await rename("vms: { w|eb: { size: 20 } }\n")).toBe(
      `${head}vms: { front: { name: web, size: 20 } }\n${moved}`,
    );
    expect(await rename("x-all: &all { size: 20 }\nvms:\n  w|eb:\n    <<: *all\n    root_size: 60\n")).toContain(
      "    <<: *all\n    name: web\n",
    );
    await expect(rename("x-all: &all { size: 20 }\nvms:\n  w|eb: *all\n")).rejects.toThrow("write name: web into it");
    // The words of a reference may stand in the text before it.
    expect(await rename('vms: { w|eb: { name: w } }\noutputs: { ip: "vm.web.id is ${vm.web.id}" }\n')).toContain(
      '"vm.web.id is ${vm.front.id}"',
    );
    // The instance may be a reference.
    expect(
      await rename(
        'vms: { w|eb: { for_each: 2, name: "${each}" } }\nvolumes: { a: { for_each: 2, attach_to: "web[${each}]" } }\n',
      ),
    ).toContain('attach_to: "front[${each}]"');
    // Where nothing can stand behind what the file says.
    await expect(rename("vms:\n  w|eb: { name: shop-web }\n...\n")).rejects.toThrow("moved: cannot be written");
  });

  it("renames a variable where a file gives its value, and no component that a volume is called after", () => {
    const values = '"room": 20\nother: 1\n';
    const varied = renameName(
      edited({
        "r.yaml": 'vars: { room: {} }\nenvironments: { dev: { vars_file: "${env}.yaml" } }\n',
        "dev.yaml": values,
      }),
      { sort: "var", key: "room", home: "r.yaml" },
      "space",
    );
    expect("changes" in varied && applied(values, [...(varied.changes.get("dev.yaml") ?? [])])).toBe(
      '"space": 20\nother: 1\n',
    );
    const shopAs = (volume: string): Renamed =>
      renameName(
        edited({
          "r.yaml": "components: { shop: { from: outer.yaml } }\n",
          "outer.yaml": "components: { inner: { from: c.yaml }, again: { from: outer.yaml } }\n",
          "c.yaml": `volumes: { data: ${volume} }\n`,
        }),
        { sort: "component", key: "shop", home: "r.yaml" },
        "store",
      );
    expect(shopAs('{ name: "${component}-data" }')).toEqual({
      problem: expect.stringContaining("volume.data is called after its component"),
    });
    for (const safe of ["{ size: 5 }", '{ name: "${component}-x", lifecycle: { ignore_changes: [name] } }'])
      expect(shopAs(safe)).toHaveProperty("changes");
  });

  it("renames nothing where only a part of it could be: what an alias or another form of text repeats", () => {
    const rename = (texts: Record<string, string>): string => {
      const renamed = renameName(edited(texts), { sort: "vm", key: "web", home: "r.yaml" }, "front");
      if ("problem" in renamed) return renamed.problem;
      return applied(texts["r.yaml"] ?? "", [...(renamed.changes.get("r.yaml") ?? [])]);
    };
    const file = (more: string): string => rename({ "r.yaml": `vms:\n  web: { name: shop-web }\n${more}` });
    // What stands in other letters is not written over.
    for (const form of ["*host", '"w\\x65b"', ">-\n      web"])
      expect(file(`x-host: &host web\nvolumes:\n  data:\n    attach_to: ${form}\n`)).toBe(
        "r.yaml:6 says web in other letters: write web there first",
      );
    // What an alias repeats is written once.
    const moved = "moved:\n  - { from: vm.web, to: vm.front }\n";
    expect(file("volumes:\n  data: &data { attach_to: web }\n  logs: *data\n")).toBe(
      `vms:\n  front: { name: shop-web }\nvolumes:\n  data: &data { attach_to: front }\n  logs: *data\n${moved}`,
    );
    // The name that is written down is that of one block.
    const merged = (api: string): string => rename({ "r.yaml": `vms:\n  web: &web\n    size: 20\n  api: ${api}\n` });
    expect(merged("{ <<: *web }")).toContain("vm.api takes its fields from vm.web");
    expect(merged("*web")).toContain("vm.api takes its fields from vm.web");
    expect(merged("{ <<: *web, name: api }")).toContain("  front: &web\n    name: web\n");
    // A file that is no YAML now may use the key as well.
    expect(rename({ "r.yaml": "vms: { web: { name: w } }\n", "part.yaml": "volumes: [\n" })).toBe(
      "part.yaml is not valid YAML now, and may use web: correct it first",
    );
    expect(rename({ "r.yaml": "vms: { web: { name: w } }\n", "part.yaml": "# nothing yet\n" })).toContain("front");
    // What a component has made moves by a line of the project that uses it.
    const part = "component: 1\nvms: { web: { name: w } }\n";
    const inPart = (project: EditedProject, home: string): Renamed =>
      renameName(project, { sort: "vm", key: "web", home }, "front");
    expect(inPart(edited({ "r.yaml": "components: { lb: { from: c.yaml } }\n", "c.yaml": part }), "c.yaml")).toEqual({
      problem: expect.stringContaining("correct the errors of the project that uses this component first"),
    });
    expect(inPart(edited({ "r.yaml": part }), "r.yaml")).toEqual({
      problem: expect.stringContaining("open the file that uses this component first"),
    });
  });

  it("renames a part of a component in each open project that uses it, whatever was opened first", async () => {
    const uses = `${head}components: { lb: { from: ../shared/lb.yaml } }\n`;
    const editor = await startEditor(
      makeFolder({
        "one/a.yaml": uses,
        "two/b.yaml": uses,
        "shared/lb.yaml": "component: 1\nvolumes: { data: { size: 5 } }\n",
      }),
    );
    const rename = (): Promise<WorkspaceEdit> =>
      editor.ask<WorkspaceEdit>(
        "textDocument/rename",
        "shared/lb.yaml",
        { line: 1, character: 12 },
        { newName: "logs" },
      );
    await editor.open("shared/lb.yaml");
    await expect(rename()).rejects.toThrow("open the file that uses this component first");
    await editor.open("one/a.yaml");
    await editor.open("two/b.yaml");
    const { changes = {} } = await rename();
    for (const file of ["one/a.yaml", "two/b.yaml"])
      expect(applied(uses, changes[editor.uriOf(file)] ?? [])).toBe(
        `${uses}moved:\n  - { from: lb/volume.data, to: lb/volume.logs }\n`,
      );
    expect(
      applied("component: 1\nvolumes: { data: { size: 5 } }\n", changes[editor.uriOf("shared/lb.yaml")] ?? []),
    ).toBe("component: 1\nvolumes: { logs: { name: data, size: 5 } }\n");
    expect((await editor.end()).stderr).toBe("");
  });

  it("leaves a command and a remark as they are that have the words of an address", () => {
    const text = `components: { data: { from: c.yaml } }
volumes: { d: { flush: { command: [tar, data/, vm.a] } } }
groups: { g: { description: data/, rules: [{ remote_group: group.g }] } }
vms: { a: { ssh: { jump: vm.b } }, b: }
rollout: { r: { of: [vm.a] } }
imports: [{ to: vm.a, name: vm.a }]
removed: [{ from: data/vm.c }]
`;
    const { places } = namesInFile(readYaml({ file: "f.yaml", text }, collectProblems()));
    const used = places.filter(({ is }) => is === "used");
    expect(used.map(({ path, sort, key }) => `${path.join(".")}: ${sort} ${key}`)).toEqual([
      "groups.g.rules.0.remote_group: group g",
      "vms.a.ssh.jump: vm b",
      "rollout.r.of.0: vm a",
      "imports.0.to: vm a",
      "removed.0.from: component data",
      "removed.0.from: vm c",
    ]);
  });

  it("finds an output right behind its component, whatever else has its letters", () => {
    const text = 'outputs: { a: "${component.x[a.li].li.listing}" }\n';
    const { places } = namesInFile(readYaml({ file: "f.yaml", text }, collectProblems()));
    const used = places.find(({ sort, is }) => sort === "output" && is === "used");
    expect(text.slice(used?.offset)).toMatch(/^li\.listing/);
  });

  it("speaks of a document as the editor names it, whether or not it is a file of this machine", async () => {
    const editor = await startEditor(makeFolder(), [], "file://host/share");
    const text = `${head}vms: { web: { sise: 20 } }\n`;
    for (const uri of ["untitled:Untitled-1", "file://host/share/reconcile.yaml", "file:///a%2Fb/reconcile.yaml"]) {
      await editor.open(uri, text);
      const [problem] = await editor.problemsOf(uri, (found) => found.length > 0);
      expect(problem?.range).toEqual({ start: { line: 5, character: 14 }, end: { line: 5, character: 18 } });
    }
    expect((await editor.end()).stderr).toBe("");
  });

  it("lives on where a file that a flag names goes away, and where a folder is none", async () => {
    const text = `${head}vars: { size: {} }\nvolumes: { data: { size: "\${var.size}" } }\n`;
    const folder = makeFolder({ "reconcile.yaml": text, "some.vars.yaml": "size: 5\n", plain: "" });
    const editor = await startEditor(folder, ["--var-file", "some.vars.yaml"]);
    await editor.open("reconcile.yaml");
    await editor.problemsOf("reconcile.yaml", (found) => found.length === 0);
    await editor.open("plain/other.yaml", "version: 1\nvolumes: { data: { size: 0 } }\n");
    await editor.problemsOf("plain/other.yaml", (found) => found.length > 0);
    rmSync(join(folder, "some.vars.yaml"));
    await editor.save("reconcile.yaml");
    const [gone] = await editor.problemsOf("reconcile.yaml", (found) => found.length > 0);
    expect(messageOf(gone!)).toBe("there is no file some.vars.yaml\nfix: correct the path");
    writeFileSync(join(folder, "some.vars.yaml"), "size: 6\n");
    await editor.save("reconcile.yaml");
    await editor.problemsOf("reconcile.yaml", (found) => found.length === 0);
    expect(await editor.end()).toEqual({ exitCode: 0, stderr: "" });
  });

  it("formats as fmt does, and says what is missing where the package is not installed", async () => {
    const folder = makeFolder({ "reconcile.yaml": "groups: {web: {name: 'shop-web'}}\nversion: 1\n" });
    const editor = await startEditor(folder);
    await editor.open("reconcile.yaml");
    const text = readFileSync(join(folder, "reconcile.yaml"), "utf8");
    const formatted = applied(text, (await editor.format("reconcile.yaml")) ?? []);
    await runCli(["fmt"], { cwd: folder });
    expect(formatted).toBe(readFileSync(join(folder, "reconcile.yaml"), "utf8"));
    expect(formatted).not.toBe(text);
    expect((await editor.end()).stderr).toBe("");
    const hidden = makeFolder({
      "hide.cjs": `const { _resolveFilename: own } = require("node:module");
require("node:module")._resolveFilename = function (name, ...rest) {
  if (name.startsWith("vscode-languageserver")) throw Object.assign(new Error("hidden"), { code: "MODULE_NOT_FOUND" });
  return own.call(this, name, ...rest);
};`,
    });
    const ran = spawnSync(process.execPath, ["--require", join(hidden, "hide.cjs"), cliPath, "lsp"], {
      cwd: folder,
      input: "",
      encoding: "utf8",
    });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("error[cli/package-missing]");
    expect(ran.stderr).toContain("npm install vscode-languageserver");
  });

  const hasNeovim = spawnSync("nvim", ["--version"]).status === 0;
  it.skipIf(!hasNeovim)("works in Neovim with the settings of the document (skipped where there is no nvim)", () => {
    const folder = makeFolder({
      "reconcile.yaml": shop.replace("attach_to: db", "attach_to: ddb"),
      "components/lb.yaml": lb,
    });
    const page = readFileSync(join(root, "docs/install.md"), "utf8");
    const settings = /```lua\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    expect(settings).toContain('cmd = { "reconcile", "lsp" }');
    const command = JSON.stringify([process.execPath, cliPath, "lsp"]).slice(1, -1);
    writeFileSync(
      join(folder, "init.lua"),
      `${settings.replace('"reconcile", "lsp"', command)}
local function wait(what, look) if not vim.wait(${waitLimitMs}, look, 20) then error("never came: " .. what) end end
local ok, problem = pcall(function()
  vim.cmd("edit reconcile.yaml")
  vim.bo.filetype = "yaml"
  wait("problems", function() return #vim.diagnostic.get(0) > 0 end)
  local first = vim.diagnostic.get(0)[1]
  vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col + 1 })
  vim.api.nvim_buf_set_text(0, first.lnum, first.col, first.lnum, first.col + 1, { "" })
  wait("no problems", function() return #vim.diagnostic.get(0) == 0 end)
  vim.lsp.buf.rename("database")
  local function whole() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") end
  wait("the rename", function() return whole():find("attach_to: database") ~= nil end)
  local format = vim.lsp.buf.format or vim.lsp.buf.formatting_sync
  format()
  vim.cmd("write")
end)
if not ok then print(problem) vim.cmd("cquit") end
vim.cmd("qall!")
`,
    );
    execFileSync("nvim", ["--headless", "--clean", "-n", "-u", "init.lua"], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const text = readFileSync(join(folder, "reconcile.yaml"), "utf8");
    expect(text).toContain("attach_to: database");
    expect(text).toContain("from: vm.db, to: vm.database");
    expect(text).toContain("# the database");
  });
});
