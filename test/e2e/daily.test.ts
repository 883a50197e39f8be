/** What a person at a terminal and a script beside them ask for day by day. */
import { statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, runCli } from "../support/cli-process";
import { done, headOf, ownPlace } from "../support/own-place";

const place = ownPlace();
const { write, read, reconcile } = place;

const head = headOf("poll_interval: 5ms");
const world = `${head}vms: { db: { name: db-1 }, web: { for_each: [a, b, c], name: "web-\${each}" } }
volumes: { data: { size: 5, attach_to: db }, spare: { size: 7 } }
groups: { front: { description: "open, to all", rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 } ] } }
`;
type Line = { readonly type: string; readonly address: string; readonly action: string };
const addressesOf = (stdout: string): string[] =>
  (jsonLines(stdout) as Line[]).flatMap(({ type, address }) => (type === "change" ? [address] : [])).sort();

describe("a plan", () => {
  it("leaves out what --exclude names and what stands on it", async () => {
    write(world);
    const plan = await reconcile("plan", "--exclude", "vm.db", "--exclude", "vm.web[b]", "--json");
    expect(plan.exitCode, plan.stderr).toBe(0);
    expect(addressesOf(plan.stdout)).toEqual(["group.front", "vm.web[a]", "vm.web[c]", "volume.spare"]);
    const applied = await reconcile("apply", "-y", "--exclude", "vm.db", "--exclude", "vm.web[b]");
    expect(applied.exitCode, applied.stderr).toBe(0);
    const rest = await reconcile("plan", "--json");
    expect(addressesOf(rest.stdout)).toEqual(["vm.db", "vm.web[b]", "volume.data"]);
  });

  it("names the nearest address where --exclude names nothing", async () => {
    write(world);
    const plan = await reconcile("plan", "--exclude", "vm.bd");
    expect(plan.exitCode).toBe(1);
    expect(plan.stderr).toContain("--exclude vm.bd names nothing that is declared or recorded");
    expect(plan.stderr).toContain("did you mean vm.db?");
  });

  it("takes its targets from a file, and refuses a file without any", async () => {
    write(world);
    write("# the web tier\r\nvm.web[a]\r\n\n# and\nvolume.spare   # and this\r\n", "targets.txt");
    const plan = await reconcile("plan", "--target-file", "targets.txt", "--json");
    expect(addressesOf(plan.stdout)).toEqual(["vm.web[a]", "volume.spare"]);
    write("# nothing\n", "none.txt");
    const none = await reconcile("plan", "--target-file", "none.txt");
    expect(none.exitCode).toBe(1);
    expect(none.stderr).toContain("none.txt names no address");
  });

  it("is one line a change with --summary, alike instances as one", async () => {
    write(world);
    const plan = await reconcile("plan", "--summary");
    expect(plan.exitCode, plan.stderr).toBe(0);
    expect(plan.stdout).toMatch(/^ {2}\+ vm\.web\[a\] … vm\.web\[c\] \(3\) {2}create$/m);
    expect(plan.stdout).not.toContain("flavor_id");
  });

  it("folds instances once hundreds change alike, and says how to see each", async () => {
    write(world.replace("[a, b, c]", "150"));
    const plan = await reconcile("plan");
    expect(plan.stdout).toContain("vm.web[0] … vm.web[149] (150)");
    expect(plan.stdout).toContain("name web-0 … web-149 (150 values)");
    expect(plan.stdout).toContain("each by itself: --steps");
    const steps = await reconcile("plan", "--steps");
    expect(steps.stdout).toContain("+ vm.web[77]  create");
  });

  it("quotes a value with a comma in a row of values", async () => {
    write(world);
    const plan = await reconcile("plan");
    expect(plan.stdout).toContain('description "open, to all"');
  });

  it("is shown again from its file, without a service", async () => {
    write(`${world}outputs: { greeting: { value: hello } }\n`);
    const plan = await reconcile("plan", "--out", "change.plan.json");
    const shown = await runCli(["show", "change.plan.json"], { cwd: place.folder, env: {} });
    expect(shown.exitCode, shown.stderr).toBe(0);
    expect(shown.stdout).toContain(`service      ${place.emulator.url}`);
    expect(shown.stdout).toContain(plan.stdout.trimEnd().split("\n").at(-1));
    expect(shown.stdout).toContain("outputs:\n  greeting: hello\n");
    const json = await runCli(["show", "change.plan.json", "--json"], { cwd: place.folder, env: {} });
    expect(addressesOf(json.stdout)).toHaveLength(7);
    const none = await runCli(["show", "reconcile.yaml"], { cwd: place.folder, env: {} });
    expect(none.exitCode).toBe(1);
    expect(none.stderr).toContain("reconcile.yaml is no saved plan");
    const gone = await runCli(["show", "gone.plan.json"], { cwd: place.folder, env: {} });
    expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining("there is no file gone.plan.json")]);
    await reconcile("apply", "-y");
    await reconcile("plan", "--destroy", "--out", "change.plan.json");
    const told = jsonLines((await runCli(["show", "change.plan.json", "--json"], { cwd: place.folder })).stdout);
    const where = { service: place.emulator.url, project: "acme", state: "reconcile.state.json" };
    expect(told.at(-1)).toMatchObject(where);
    const losses = told.filter(({ type, code }) => type === "finding" && code === "consent/data-loss");
    expect(losses.length).toBeGreaterThan(0);
    // Who applies the file needs no other consent to what it lists.
    const text = (await runCli(["show", "change.plan.json"], { cwd: place.folder })).stdout;
    expect(text).toContain("(permitted)");
    expect(text).not.toContain("--allow-loss");
    expect(told.at(-1)?.["findings"]).toHaveLength(told.filter(({ type }) => type === "finding").length);
  });

  it("is shown from its file with all that plan said of it: what it opens, checks, the file itself", async () => {
    write(
      world.replace("dst_port: 443", "dst_port: 22").replace("size: 7", "size: 1700") +
        `policy: { command: [echo, '{ "findings": [ { "severity": "warning", "code": "p/x", "summary": "hm" } ] }'] }\n`,
    );
    const codesOf = (stdout: string) =>
      jsonLines(stdout).flatMap(({ type, code }) => (type === "finding" ? [code] : []));
    const planned = codesOf((await reconcile("plan", "--json", "--out", "open.plan.json")).stdout);
    expect(planned).toEqual(expect.arrayContaining(["exposure/open-port", "config/size-over-limit", "policy/p/x"]));
    expect(codesOf((await reconcile("show", "open.plan.json", "--json")).stdout)).toEqual(planned);
    const text = await reconcile("show", "open.plan.json");
    expect(text.stderr).toContain("warning[exposure/open-port]: group.front: SSH (tcp 22) is now open to the world");
    expect(text.stderr).toContain("hm");
    expect((await reconcile("show", "open.plan.json", "--markdown")).stdout).toContain("SSH (tcp 22) is now open");
  });
});

describe("--json-into", () => {
  it.each([["--markdown"], ["--annotations", "sarif"], ["--summary"]])(
    "writes the whole plan, whatever people are shown: %s %s",
    async (...form) => {
      write(world);
      const lines = async (...words: string[]) => {
        await reconcile("plan", ...words, "--json-into", "plan.jsonl");
        return jsonLines(read("plan.jsonl")).map(({ time: _, duration_ms: __, ...line }) => line);
      };
      const plain = await lines();
      const changes = plain.filter(({ type }) => type === "change");
      expect(changes).toHaveLength(7);
      expect(await lines(...form)).toEqual(plain);
      await reconcile("plan", "--out", "it.plan.json");
      const shown = jsonLines((await reconcile("show", "it.plan.json", "--markdown", "--json")).stdout);
      expect(shown.filter(({ type }) => type === "change")).toHaveLength(7);
    },
  );

  it("tells of a command line that was not understood, and never goes on telling of an earlier run", async () => {
    write("an earlier run", "run.jsonl");
    const ran = await reconcile("apply", "--refresh=bad", "--json-into", "run.jsonl");
    expect([ran.exitCode, ran.stderr.split("\n")[0]]).toEqual([1, "--refresh is one of all, changed, none, not bad"]);
    expect(jsonLines(read("run.jsonl"))).toMatchObject([
      { type: "summary", command: "apply", ok: false, exit_code: 1 },
    ]);
    write("vm.db", "run.txt");
    await reconcile("plan", "--bad", "--target-file", "run.txt", "--json-into", "run.txt");
    expect(read("run.txt")).toBe("vm.db");
  });

  it("has the lines of --json beside the text for people, for its owner alone", async () => {
    write(world);
    const applied = await reconcile("apply", "-y", "--json-into", "run.jsonl");
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(applied.stdout).toContain("to create");
    const lines = jsonLines(read("run.jsonl")) as { type: string; exit_code?: number; status?: string }[];
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["change", "step_planned", "step", "summary"]),
    );
    expect(lines.at(-1)).toMatchObject({ type: "summary", exit_code: 0, changes: { create: 7 } });
    expect(statSync(join(place.folder, "run.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("writes through no link, and says so before anything is read", async () => {
    write(world);
    symlinkSync(join(place.folder, "elsewhere"), join(place.folder, "run.jsonl"));
    const plan = await reconcile("plan", "--json-into", "run.jsonl");
    expect(plan.exitCode).toBe(1);
    expect(plan.stderr).toContain("error[cli/file-unwritable]: --json-into run.jsonl cannot be written");
  });
});

describe("orphans delete --all", () => {
  it("ends every orphan, with one consent", async () => {
    write(world);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(
      `${head}removed: [ { from: volume.spare, destroy: false }, { from: group.front, destroy: false } ]\nvms: { db: { name: db-1 } }\nvolumes: { data: { size: 5, attach_to: db } }\n`,
    );
    const applied = await reconcile("apply", "-y", "--allow-data-loss", "--allow-removal", "all");
    expect(applied.exitCode, applied.stderr).toBe(0);
    const before = jsonLines((await reconcile("orphans", "list", "--json")).stdout).at(-1) as { orphans: unknown[] };
    expect(before.orphans.length).toBeGreaterThan(1);
    const refused = await reconcile("orphans", "delete", "--all");
    expect(refused.exitCode).toBe(3);
    const deleted = await reconcile("orphans", "delete", "--all", "--allow-data-loss");
    expect(deleted.exitCode, deleted.stderr).toBe(0);
    const after = jsonLines((await reconcile("orphans", "list", "--json")).stdout).at(-1) as { orphans: unknown[] };
    expect(after.orphans).toEqual([]);
    expect((await reconcile("orphans", "delete")).stderr).toContain("the ids of orphans, or --all");
  });
});

describe("what a plan says of itself", () => {
  it("hints at the moved entry where a key was renamed, a whole for_each block as one", async () => {
    write(world);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(world.replace("data: { size: 5", "files: { size: 5").replace("web: { for_each", "app: { for_each"));
    const plan = await reconcile("plan");
    expect(plan.stderr).toContain("moved: [ { from: volume.data, to: volume.files } ]");
    const { diagnostics } = jsonLines((await reconcile("plan", "--json")).stdout).at(-1) as {
      diagnostics: { code: string }[];
    };
    expect(diagnostics.filter(({ code }) => code === "plan/renamed-key").length).toBeGreaterThan(0);
  });

  it("hints at the whole component where its key was renamed, and at what keeps volumes that are named after it", async () => {
    const file = (key: string, more = "") => `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
components: { ${key}: { from: ./tier.yaml } }
${more}`;
    const tier = (ignored: string) => `component: 1
vms: { web: { for_each: 2, name: "\${component}-web-\${each}" } }
volumes: { data: { name: "\${component}-data", size: 5, attach_to: "web[0]"${ignored} } }
groups: { web: { name: "\${component}-web", rules: [{ protocol: tcp, dst_port: 443 }] } }
`;
    place.write(tier(""), "tier.yaml");
    write(file("shop"));
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(file("store"));
    const { diagnostics } = jsonLines((await reconcile("plan", "--json")).stdout).at(-1) as {
      diagnostics: { code: string; fix: string }[];
    };
    const hints = diagnostics.filter(({ code }) => code === "plan/renamed-key").map(({ fix }) => fix);
    expect(hints).toHaveLength(1);
    expect(hints[0]).toContain("moved: [ { from: shop/, to: store/ } ]");
    expect(hints[0]).toContain("ignore_changes: [name] } on store/volume.data");
    // With the second half of it alone, the volume would be replaced for its name, and the plan says what is missing.
    write(file("store", "moved: [ { from: shop/, to: store/ } ]\n"));
    const half = await reconcile("plan");
    expect(half.stderr).toContain("store/volume.data would be replaced by an empty one for its name alone");
    expect(half.stderr).toContain("fix: lifecycle: { ignore_changes: [name] }");
    // Done to the letter, nothing goes and nothing is replaced.
    place.write(tier(", lifecycle: { ignore_changes: [name] }"), "tier.yaml");
    write(file("store", "moved: [ { from: shop/, to: store/ } ]\n"));
    const kept = jsonLines((await reconcile("plan", "--json")).stdout).at(-1) as { changes: Record<string, number> };
    expect(kept.changes).toMatchObject({ create: 0, replace: 0, delete: 0 });
  });

  it("hints at what keeps a volume whose name follows its key", async () => {
    const file = (key: string, more = "") => `${head}volumes: { ${key}: { size: 5${more} } }\n`;
    write(file("data"));
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(file("store"));
    const hint =
      "lifecycle: { ignore_changes: [name] } on volume.store, whose name in the service cannot change, and moved: [ { from: volume.data, to: volume.store } ]";
    const plan = await reconcile("plan");
    expect(plan.stderr).toContain(hint);
    write(
      `${file("store", ", lifecycle: { ignore_changes: [name] }")}moved: [ { from: volume.data, to: volume.store } ]\n`,
    );
    const kept = jsonLines((await reconcile("plan", "--json")).stdout).at(-1) as { changes: Record<string, number> };
    expect(kept.changes).toMatchObject({ create: 0, replace: 0, delete: 0 });
  });

  it("hints at the whole moved list where a number of instances became names, and done so nothing goes", async () => {
    const file = (each: string, ignored = "", more = "") => `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { web: { for_each: ${each}, name: "web-\${each}" } }
volumes: { data: { for_each: ${each}, size: 5${ignored} } }
${more}`;
    write(file("3"));
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(file("[a, b, c]"));
    const { diagnostics } = jsonLines((await reconcile("plan", "--json")).stdout).at(-1) as {
      diagnostics: { code: string; fix: string }[];
    };
    const hints = diagnostics.filter(({ code }) => code === "plan/renamed-key").map(({ fix }) => fix);
    expect(hints).toHaveLength(2);
    const entries = ["vm.web", "volume.data"].map((block) => {
      const all = ["a", "b", "c"].map((key, index) => `{ from: "${block}[${index}]", to: "${block}[${key}]" }`);
      expect(hints.join("\n")).toContain(`moved: [ ${all.join(", ")} ]`);
      return all.join(", ");
    });
    expect(hints.join("\n")).toContain("ignore_changes: [name]");
    write(file("[a, b, c]", ", lifecycle: { ignore_changes: [name] }", `moved: [ ${entries.join(", ")} ]\n`));
    const kept = jsonLines((await reconcile("plan", "--json")).stdout).at(-1) as { changes: Record<string, number> };
    expect(kept.changes).toMatchObject({ create: 0, replace: 0, delete: 0 });
  });

  it("is not made of nothing: a service that cannot be reached is named", async () => {
    write(world);
    const plan = await runCli(["plan", "--base-url", "http://127.0.0.1:9"], {
      cwd: place.folder,
      env: { RECONCILE_TOKEN: "ops-token" },
    });
    expect(plan.exitCode).toBe(1);
    expect(plan.stdout).toBe("");
    expect(plan.stderr).toContain("the service http://127.0.0.1:9 cannot be reached");
  });

  // Neither volumes nor groups have a list here, and an empty state has nothing to look at.
  it.each([
    ["volumes: { data: { size: 5 } }", []],
    ["groups: { front: { rules: [ { protocol: tcp, dst_port: 80 } ] } }", ["--target", "group.front"]],
    ["", []],
  ])("looks once where nothing else would be asked: %s", async (blocks, words) => {
    await place.serve({ timeScale: 0, strict: true });
    write(`${head}${blocks}\n`);
    const asked = () => Object.values(place.emulator.requests().counts).reduce((sum, count) => sum + count, 0);
    const before = asked();
    expect((await reconcile("plan", ...words)).exitCode).toBe(0);
    expect(asked() - before).toBe(1);
    expect((await reconcile("plan", "--no-refresh", ...words)).exitCode).toBe(0);
    expect(asked() - before).toBe(1);
    const wrong = { cwd: place.folder, env: { RECONCILE_TOKEN: "of-nobody" } };
    const [nobody, nowhere, another] = await Promise.all([
      runCli(["plan", "--base-url", place.emulator.url, ...words], wrong),
      runCli(["plan", "--base-url", "http://127.0.0.1:9", ...words], wrong),
      runCli(["plan", "--base-url", `${place.emulator.url}/elsewhere`, ...words], wrong),
    ]);
    expect([nobody.exitCode, nowhere.exitCode, another.exitCode]).toEqual([1, 1, 1]);
    // Once, whatever else there was to look at.
    expect(nobody.stderr.match(/HTTP 401/g)).toHaveLength(1);
    expect(nobody.stderr).toContain("set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION");
    expect(nowhere.stderr).toContain("the service http://127.0.0.1:9 cannot be reached");
    expect(another.stderr).toContain("the list of VMs could not be read");
  });

  it("says once that the credential is refused, however much there was to look at", async () => {
    await place.serve({ timeScale: 0, strict: true });
    write(world);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const env = { RECONCILE_TOKEN: "of-nobody", RECONCILE_BASE_URL: place.emulator.url };
    const plan = await runCli(["plan"], { cwd: place.folder, env });
    expect(plan.exitCode).toBe(1);
    expect(plan.stderr.match(/^(error|warning)\[/gm)).toEqual(["error["]);
    expect(plan.stderr).toContain("error[service/unauthenticated]");
    expect(plan.stderr).toContain("4 more reads were refused alike");
  });

  it("suggests the key of a for_each", async () => {
    write(world);
    const plan = await reconcile("plan", "--target", "vm.web[d]");
    expect(plan.stderr).toContain("vm.web has vm.web[a], vm.web[b], vm.web[c]");
    expect((await reconcile("plan", "--target", "vm.wbe")).stderr).toContain("did you mean vm.web?");
  });

  it("shows drift of rules as + and -, and says that the world got in", async () => {
    write(world);
    expect((await reconcile("apply", "-y", "--target", "group.front")).exitCode).toBe(0);
    const [group] = place.emulator.dump().groups.filter(({ name }) => name === "front");
    const added = await fetch(`${place.emulator.url}/api/v1/security-group/${group!.id}/rule`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer ops-token" },
      body: JSON.stringify({
        direction: "ingress",
        ethertype: "IPv4",
        protocol: "tcp",
        dst_port: "22",
        remote_ip: "0.0.0.0/0",
      }),
    });
    expect(added.status, await added.text()).toBeLessThan(300);
    const drift = await reconcile("drift");
    expect(drift.exitCode).toBe(2);
    expect(drift.stdout).toContain("+ rule ingress tcp 22 from anywhere (IPv4)  (opens it to the Internet)");
    expect(drift.stdout).toContain("group.front is open to the Internet by a rule that the state does not have");
    expect(drift.stdout).not.toContain("(none)");
  });
});

describe("reconcile pull", () => {
  it("writes the owner once, and says what it could not see", async () => {
    write(world);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const pulled = await reconcile("pull", "--project", "acme", "--region", "in-west-1", "--user-id", "1042");
    expect(pulled.stdout.match(/owner: ops@acme.example/g)).toHaveLength(1);
    expect(pulled.stdout).toContain("image_id: ubuntu-24.04");
    expect(pulled.stdout).toContain("# not seen: security groups");
    expect(pulled.stderr).toContain("note[pull/not-seen]");
  });

  it("keeps the dialect that stands in the file", async () => {
    write(`version: 1\nservice: { dialect: { records: { vm: { name: [/name] } } } }\n`);
    const pulled = await reconcile("pull");
    expect(pulled.exitCode, pulled.stderr).toBe(0);
    write(pulled.stdout);
    expect((await reconcile("pull")).stdout).toBe(pulled.stdout);
    expect(pulled.stdout).toMatch(/dialect:\s+records:\s+vm:\s+name:\s+- \/name/);
  });
});

describe("reconcile explain", () => {
  it("lists a family of codes, and finds the nearest in the family that is named", async () => {
    expect((await reconcile("explain", "consent")).stdout).toContain("consent/flush");
    expect((await reconcile("explain", "vm")).stdout).toMatch(/^vm\.name\n[\s\S]*^vm\.flavor_id$/m);
    expect((await reconcile("explain", "consent/flsh")).stderr).toContain("reconcile explain consent/flush");
  });
});

describe("drift --accept", () => {
  it("leaves a group whose rules come from a merge key, for its own list would take their place", async () => {
    write(`${head}x-group: &base { rules: [ { protocol: tcp, dst_port: 993, remote_ip: 10.0.0.0/8 } ] }
groups: { mail: { <<: *base, description: Post } }
`);
    const applied = await reconcile("apply", "-y");
    expect(applied.exitCode, applied.stderr).toBe(0);
    const seen = place.emulator.dump();
    const [rule] = seen.rules.filter((one) => one.port_range_min === 993);
    if (rule === undefined) throw new Error("there is no rule");
    const more = { ...rule, id: "99999999-9999-4999-8999-999999999999", port_range_min: 25, port_range_max: 25 };
    await place.emulator.load({ ...seen, rules: [...seen.rules, more] });
    const before = read("reconcile.yaml");
    const left = await reconcile("drift", "--accept");
    expect([left.exitCode, read("reconcile.yaml")]).toEqual([2, before]);
    expect(left.stderr).toContain("group.mail: rules is not written into the files: its other rules come from");
  });

  it("writes a text of the service as it is: no expression, and no hidden character", async () => {
    const shown = ["of ${var.nobody}\u202e", "its ${env} too"];
    await place.serve({ with: ["group.list"] });
    const operations = { "group.list": { method: "GET", path: "/api/v1/security-group" } };
    write(JSON.stringify({ operations }), "dialect.yaml");
    write(
      `${head.replace("service: {", "service: { dialect: dialect.yaml,")}groups: { web: { description: "$\${x}", rules: [ { protocol: tcp, dst_port: 443 } ] } }\n`,
    );
    await done(reconcile("apply", "-y"));
    const seen = place.emulator.dump();
    const [rule] = seen.rules.filter((one) => one.port_range_min === 443);
    if (rule === undefined) throw new Error("there is no rule");
    const more = { ...rule, id: "99999999-9999-4999-8999-999999999999", port_range_min: 25, port_range_max: 25 };
    await place.emulator.load({
      ...seen,
      groups: seen.groups.map((one) => (one.name === "web" ? { ...one, description: shown[0] ?? "" } : one)),
      rules: [...seen.rules, { ...more, description: shown[1] ?? "" }],
    });
    await done(reconcile("drift", "--accept"));
    const text = read("reconcile.yaml");
    expect(text).toContain(String.raw`description: "of $${"$"}{var.nobody}\u202e"`);
    expect(text).toContain(`description: "its $\${env} too"`);
    expect((await reconcile("plan")).stdout).toContain("Nothing to do");
  });

  it("finds a block whose key YAML takes for a number, and rules however they are spelled", async () => {
    write(`${head}volumes: { 123: { size: 5 } }
groups:
  web:
    rules:
      - { protocol: tcp, dst_port: 443, remote_group: self }
      - { protocol: TCP, dst_port: "22", remote_ip: 10.0.0.7/24 }
      - { protocol: tcp, dst_port: 80, remote_group: group.web }
      - { protocol: Tcp, dst_port: 90, remote_ip: ::/0 }
      - { protocol: udp }
`);
    await done(reconcile("apply", "-y"));
    const seen = place.emulator.dump();
    await place.emulator.load({
      ...seen,
      volumes: seen.volumes.map((volume) => ({ ...volume, size: 8 })),
      rules: seen.rules.filter((rule) => rule.protocol !== "tcp"),
    });
    await done(reconcile("drift", "--accept"));
    expect(read("reconcile.yaml")).toContain("volumes: { 123: { size: 8 } }");
    expect(read("reconcile.yaml")).toContain("rules:\n      - { protocol: udp }\n");
    expect((await reconcile("plan")).stdout).toContain("Nothing to do");
  });

  it("writes what was found into the file, comments kept, and then there is nothing to do", async () => {
    write(`${head}# all of it
vms:
  db: { name: db-1 } # the database
  web: { for_each: [a, b, c], name: "web-\${each}" }
volumes: { data: { size: 5, attach_to: db } }
groups:
  front:
    description: Public
    # who gets in
    rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }, { protocol: udp, dst_port: 53, remote_ip: 10.0.0.0/8 } ]
`);
    const applied = await reconcile("apply", "-y");
    expect(applied.exitCode, applied.stderr).toBe(0);
    const seen = place.emulator.dump();
    await place.emulator.load({
      ...seen,
      vms: seen.vms.map((vm) => ({
        ...vm,
        name: vm.name === "db-1" ? "by-hand" : vm.name === "web-a" ? "web-x" : vm.name,
      })),
      rules: seen.rules.map((rule) =>
        rule.port_range_min === 53 ? { ...rule, port_range_min: 5353, port_range_max: 5353 } : rule,
      ),
    });
    const misspelt = await reconcile("drift", "--accept", "group.frnt");
    expect([misspelt.exitCode, misspelt.stderr]).toEqual([1, expect.stringContaining("did you mean group.front?")]);
    const accepted = await reconcile("drift", "--accept");
    expect(accepted.exitCode, accepted.stdout + accepted.stderr).toBe(2);
    expect(accepted.stderr).toContain("vm.web[a]: name is not written into the files: its block has a for_each");
    const text = read("reconcile.yaml");
    expect(text).toContain("db: { name: by-hand } # the database");
    expect(text).toContain("# who gets in");
    expect(text).toContain("dst_port: 5353");
    expect(text).not.toContain("dst_port: 53,");
    const plan = await reconcile("plan", "--exclude", "vm.web[a]");
    expect(plan.stdout).toContain("Nothing to do");
    // What the file says already is not left to anybody, and what differs beside it is not forgotten.
    const again = await reconcile("drift", "--accept");
    expect([again.exitCode, again.stderr.match(/not-accepted\]: \S+/g)]).toEqual([2, ["not-accepted]: vm.web[a]:"]]);
    const one = await reconcile("drift", "--accept", "vm.db");
    expect([one.exitCode, one.stderr, read("reconcile.yaml")]).toEqual([
      2,
      expect.not.stringContaining("not-accepted"),
      text,
    ]);
  });

  it("takes the rule of the family that is gone out of the file", async () => {
    write(`${head}groups:
  web:
    rules:
      - { protocol: tcp, dst_port: 443, ethertype: IPv6 }
      - { protocol: tcp, dst_port: 443 }
`);
    await done(reconcile("apply", "-y"));
    const seen = place.emulator.dump();
    await place.emulator.load({
      ...seen,
      rules: seen.rules.filter((rule) => rule.port_range_min !== 443 || rule.ether_type === "IPv6"),
    });
    await done(reconcile("drift", "--accept"));
    expect(read("reconcile.yaml")).toContain("rules:\n      - { protocol: tcp, dst_port: 443, ethertype: IPv6 }\n");
    expect((await reconcile("plan")).stdout).toContain("Nothing to do");
    await done(reconcile("drift", "--accept"));
  });
});
