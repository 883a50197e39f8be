/** One file speaks for several environments: what is written into it and what is taken over stays in the one that is meant. */
import { describe, expect, it } from "vitest";
import { jsonLines } from "../support/cli-process";
import { done, ownPlace } from "../support/own-place";

const place = ownPlace();
const { reconcile, write, read } = place;
const fileOf = (environments: string, blocks: string): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 100ms } }
vars: { size: { default: m1.small },  office: { default: 198.51.100.0/24 } }   # two
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
environments: ${environments}
${blocks}`;
const blocks = `vms:
  bastion: {name: "\${env}-bastion" }  # in, and out
  web: { name: "\${env}-web",   flavor_id: "\${var.size}" }
groups:
  edge: { name: "\${env}-edge", rules: [{ protocol: tcp,dst_port: 443 }] }
`;
const environments = "{ staging: { vars: { size: m1.small } }, prod: { defaults: { vm: { flavor_id: m1.small } } } }";
const applyAll = async (): Promise<void> => {
  for (const env of ["staging", "prod"]) await done(reconcile("apply", "-y", "--env", env));
};
/** Somebody resizes a VM by hand. */
async function resizeByHand(name: string): Promise<void> {
  const world = place.emulator.dump();
  const flavor = place.emulator.dump().flavors.find((one) => one.name === "m1.large")?.id;
  if (flavor === undefined) throw new Error("no flavor m1.large");
  await place.emulator.load({
    ...world,
    vms: world.vms.map((vm) => (vm.name === name ? { ...vm, flavor_id: flavor } : vm)),
  });
}
const accept = (env: string, ...addresses: string[]) => reconcile("drift", "--env", env, "--accept", ...addresses);

describe("drift --accept with environments", () => {
  it("writes a variable of the environment and a default of its own, one value of the text each, and prod keeps its plan", async () => {
    write(fileOf(environments, blocks));
    await applyAll();
    await resizeByHand("staging-web");
    await resizeByHand("prod-bastion");
    const before = read("reconcile.yaml");
    await done(accept("staging", "vm.web"));
    expect(read("reconcile.yaml")).toBe(before.replace("vars: { size: m1.small } }", "vars: { size: m1.large } }"));
    expect((await reconcile("plan", "--env", "staging", "--detailed-exitcode")).exitCode).toBe(0);
    // The default of prod holds for its other VM as well, where the variable is written over it.
    await done(accept("prod", "vm.bastion"));
    expect(read("reconcile.yaml")).toContain("prod: { defaults: { vm: { flavor_id: m1.large } } }");
    expect((await reconcile("plan", "--env", "prod", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("leaves to the person what a block says for all, changes no byte, and names the way", async () => {
    write(fileOf(environments, blocks));
    await applyAll();
    await resizeByHand("staging-bastion");
    const world = place.emulator.dump();
    const edge = world.groups.find(({ name }) => name === "staging-edge");
    const [rule] = world.rules.filter((one) => one.security_group_id === edge?.id && one.direction === "ingress");
    if (rule === undefined) throw new Error("there is no rule");
    await place.emulator.load({
      ...world,
      rules: [
        ...world.rules,
        { ...rule, id: "99999999-9999-4999-8999-999999999999", port_range_min: 22, port_range_max: 22 },
      ],
    });
    const before = read("reconcile.yaml");
    const left = await accept("staging");
    expect([left.exitCode, read("reconcile.yaml")]).toEqual([2, before]);
    expect(left.stderr).toContain(
      "vm.bastion: flavor_id is not written into the files: its block holds for prod as well",
    );
    expect(left.stderr).toContain("group.edge: rules is not written into the files: its block holds for prod as well");
    expect(left.stderr).not.toContain("Wrote");
    expect((await reconcile("plan", "--env", "prod", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

it("of a state of another environment nothing is forgotten, moved, handed on or logged in to", async () => {
  write(fileOf("{ staging: {}, prod: {} }", 'volumes: { data: { name: "${env}-data", size: 5 } }\n'));
  const at = ["--state", "one.json"];
  await done(reconcile("apply", "-y", "--env", "staging", ...at));
  const listed = await reconcile("state", "list", "--env", "staging", ...at);
  for (const words of [
    "state rm volume.data",
    "state mv volume.data volume.other",
    "state mv volume.data volume.data --to-state two.json",
    "state resolve volume.data --attached",
    "output --format env",
    "export pulumi",
    "ssh vm.web",
  ]) {
    const ran = await reconcile(...words.split(" "), "--env", "prod", ...at);
    const why = expect.stringContaining("this state is of the environment staging, and prod was chosen");
    expect([words, ran.exitCode, ran.stderr]).toEqual([words, 3, why]);
  }
  expect(await reconcile("state", "list", "--env", "staging", ...at)).toEqual(listed);
  await done(reconcile("state", "rm", "volume.data", "--env", "staging", ...at));
});

it("a command that a message names is of the same files, environment and state", async () => {
  write(fileOf("{ staging: {}, prod: {} }", blocks));
  const asked = await reconcile("state", "show", "vm.none", "--env", "prod", "--state", "other.json");
  expect(asked.stderr).toContain("fix: reconcile state list --env prod --state other.json shows");
  const json = await reconcile("state", "show", "vm.none", "--env", "prod", "--json");
  expect(jsonLines(json.stdout).at(-1)).toMatchObject({
    diagnostics: [{ fix: "reconcile state list --env prod shows what it has" }],
  });
});

describe("a state without ${env}", () => {
  it("is an error of validate --env all where two environments have it", async () => {
    write(`state: all.json\n${fileOf("{ staging: {}, prod: {} }", blocks)}`);
    const all = await reconcile("validate", "--env", "all");
    expect([all.exitCode, all.stderr]).toEqual([1, expect.stringContaining("all.json is named for staging and prod")]);
    write(`state: "\${env}.json"\n${fileOf("{ staging: {}, prod: {} }", blocks)}`);
    expect((await reconcile("validate", "--env", "all")).exitCode).toBe(0);
  });
});

describe("a name without ${env}", () => {
  const shared = `vms: { web: { name: shop-web } }
volumes: { data: { size: 5, attach_to: web } }
`;
  it("is an error of validate --env all, with each kind and both environments", async () => {
    write(fileOf("{ staging: {}, prod: {} }", shared));
    const all = await reconcile("validate", "--env", "all", "--json");
    expect(all.exitCode).toBe(1);
    const told = jsonLines(all.stdout)
      .at(-1)
      ?.["diagnostics"].filter(({ code }: { code: string }) => code === "config/shared-name");
    expect(told.map(({ address, summary }: { address: string; summary: string }) => [address, summary])).toEqual([
      ["vm.web", "the VM shop-web is wanted by staging (vm.web) and prod (vm.web)"],
      ["volume.data", "the volume data is wanted by staging (volume.data) and prod (volume.data)"],
    ]);
    write(fileOf("{ staging: {}, prod: { project: other } }", shared));
    expect((await reconcile("validate", "--env", "all")).exitCode).toBe(0);
    write(fileOf("{ staging: {}, prod: {} }", blocks));
    expect((await reconcile("validate", "--env", "all")).exitCode).toBe(0);
  });

  it("takes nothing from the other environment: not by --adopt, imports or import, and the plan says whose it is", async () => {
    write(fileOf("{ staging: {}, prod: {} }", shared));
    await done(reconcile("apply", "-y", "--env", "staging"));
    const before = place.emulator.dump();
    const id = before.vms[0]?.id ?? "";
    const plan = await reconcile("plan", "--env", "prod");
    expect(plan.exitCode).toBe(1);
    expect(plan.stderr).toContain("vm.web of the environment staging has it");
    expect(plan.stderr).toContain("put ${env} into the name");
    expect(plan.stderr).not.toContain("--adopt");
    const adopted = await reconcile("apply", "-y", "--env", "prod", "--adopt");
    expect([adopted.exitCode, adopted.stderr]).toEqual([1, expect.stringContaining("of the environment staging")]);
    const imported = await reconcile("import", "vm.web", id, "--env", "prod");
    expect([imported.exitCode, imported.stderr]).toEqual([1, expect.stringContaining("of the environment staging")]);
    // Another name of vm.web would not change what was said of its id.
    expect(imported.stderr).not.toContain("into the name");
    const pulled = await done(reconcile("pull", "--env", "prod"));
    expect(pulled.stdout).toContain(
      `# managed by the environment staging already, take it out of here: ${id} is vm.web\n`,
    );
    write(fileOf("{ staging: {}, prod: {} }", `${shared}imports: [{ to: vm.web, id: "${id}" }]\n`));
    const wished = await reconcile("apply", "-y", "--env", "prod");
    expect([wished.exitCode, wished.stderr]).toEqual([1, expect.stringContaining("take the imports entry out")]);
    expect(wished.stderr).not.toContain("into the name");
    expect(place.emulator.dump()).toEqual(before);
  });

  it("is not taken over by its name where the other environment's state cannot be read; by its id a person is told", async () => {
    write(fileOf("{ staging: {}, prod: {} }", shared));
    await done(reconcile("apply", "-y", "--env", "staging"));
    const id = place.emulator.dump().vms[0]?.id ?? "";
    write("{ broken", "reconcile.staging.state.json");
    const adopted = await reconcile("apply", "-y", "--env", "prod", "--adopt", "--target", "vm.web");
    expect([adopted.exitCode, adopted.stderr]).toEqual([1, expect.stringContaining("plan/sibling-unread")]);
    expect(adopted.stderr).toContain(`reconcile import --env prod vm.web ${id}`);
    const imported = await done(reconcile("import", "vm.web", id, "--env", "prod"));
    expect(imported.stderr).toContain("the state of the environment staging could not be read");
  });
});
