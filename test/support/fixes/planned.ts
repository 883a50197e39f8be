/** What else a plan finds. */
import { retold } from "../own-place";
import { all, applied, both, file, gone, rewritten, runs, vm, type Worlds } from "./scene";

export const planned = {
  "plan/flavor-unknown": [
    { files: file("vms: { web: { flavor_id: m1.smal } }"), follow: [{ word: /m1\.small/, insteadOf: "m1.smal" }] },
  ],
  "plan/image-unknown": [
    {
      files: file("vms: { web: { image_id: ubuntu-24.4 } }"),
      follow: [{ word: /ubuntu-24\.04/, insteadOf: "ubuntu-24.4" }],
    },
  ],
  "plan/region-unknown": [
    { files: file("vms: { web: { region: in-west-2 } }"), follow: [{ word: /in-west-1/, insteadOf: "in-west-2" }] },
  ],
  "plan/region-ambiguous": [
    {
      files: file("vms: { web: { region: West } }"),
      service: {
        tell: ({ operation }) =>
          operation === "region.list"
            ? { status: 200, body: { data: ["in-west-1", "in-west-2"].map((id) => ({ id, name: "West" })) } }
            : undefined,
      },
      follow: [{ word: /in-west-1/, insteadOf: "West" }],
    },
  ],
  "plan/value-not-shown": [
    {
      files: file("vms: { web: {} }", { has: all }),
      service: {
        tell: retold({ vm: ({ private_ip: addr, ...record }) => ({ ...record, addr }) }),
      },
      before: both(
        applied,
        rewritten(
          "vms: { web: {} }",
          'vms: { web: {} }\ngroups: { app: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: "${vm.web.private_ip}" } ] } }',
        ),
        (here) => here.wait(400),
      ),
      knows: () => ({ "…": "addr" }),
      follow: [{ write: /records: \{ vm: \{ private_ip: \[.*?\] \} \}/, below: ["service", "dialect"] }],
    },
    {
      files: file("vms: { web: {} }", { operations: "vm.list: null" }),
      before: both(
        async (here) => {
          await here.reconcile("apply", "-y");
          await here.ok("import", "vm.web", here.emulator.dump().vms[0]!.id);
        },
        rewritten(
          "vms: { web: {} }",
          'vms: { web: {} }\ngroups: { app: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: "${vm.web.private_ip}" } ] } }',
        ),
      ),
      follow: [{ hand: /write the address in its place/, done: rewritten("${vm.web.private_ip}", "10.0.0.3") }],
    },
  ],
  "apply/volume-failed": [
    {
      files: file("volumes: { data: { size: 3 } }", { has: all }),
      before: both(applied, rewritten("size: 3 }", "size: 4 }"), (here) => {
        // Until the next run lists them, it does not show the new size either.
        let isSmall: boolean | undefined;
        const tell = (size: object) => retold({ volume: (one) => ({ ...one, ...size, status: "TERMINATED" }) });
        here.door.become({
          tell(asked, answer) {
            if (asked.operation === "volume.resize") isSmall = true;
            else if (asked.operation === "volume.list" && isSmall === true) isSmall = false;
            return isSmall === undefined ? undefined : tell(isSmall ? { size: 3 } : {})(asked, answer);
          },
        });
      }),
      follow: [{ write: /states: \{ volume: \{ (?!gone).*?\} \}/, below: ["service", "dialect"] }],
    },
  ],
  "plan/shrink": [
    {
      name: "a service that counts in bytes",
      files: file("volumes: { data: { size: 3 } }", { has: ["volume.list"], dialect: ", records: { volume: {} }" }),
      before: (here) => here.reconcile("apply", "-y"),
      service: {
        tell: retold({ volume: (record) => ({ ...record, size: Number(record["size"]) * 1024 ** 3 }) }),
      },
      follow: [{ write: /records: \{ volume: \{ size: \[.*?\] \} \}/, below: ["service", "dialect"] }],
    },
    {
      files: file("volumes: { data: { size: 3 } }"),
      before: both(applied, rewritten("size: 3 }", "size: 2 }")),
      follow: [{ word: /set size back to (\d+)/, insteadOf: "2" }],
    },
    {
      name: "a VM's",
      files: file("vms: { web: { size: 5 } }", { has: all }),
      before: both(applied, rewritten("size: 5 }", "size: 4 }")),
      follow: [{ word: /set size back to (\d+)/, insteadOf: "4" }],
    },
  ],
  "apply/resize-undone": [
    {
      files: file("vms: { web: { flavor_id: m1.small } }", { has: all }),
      // It confirms a resize that it did not carry out.
      service: {
        async tell(asked, _, truth) {
          if (asked.operation === "vm.resize.confirm" && asked.nthOfItsKind === 1)
            await truth.change((world) => {
              const small = world.flavors.find(({ name }) => name === "m1.small")?.id ?? "";
              return { ...world, vms: world.vms.map((one) => ({ ...one, flavor_id: small })) };
            });
          return undefined;
        },
      },
      before: both(applied, rewritten("flavor_id: m1.small } }", "flavor_id: m1.large } }")),
      follow: [{ again: /run the same command again/ }],
    },
  ],
  "plan/port-range": [
    {
      files: file("groups: { web: { rules: [ { protocol: tcp, dst_port: 80-90 } ] } }"),
      emulated: { portRange: "{min}-{max}" },
      follow: [{ write: /write (rules: \{.*?\} ?\}?)(?= in the dialect, or)/, below: ["service", "dialect"] }],
    },
  ],
  "plan/unknown-address": [
    {
      files: file(vm),
      command: ["apply", "-y", "--target", "vm.wev"],
      follow: [{ arg: /did you mean (\S+)\?/, insteadOf: "vm.wev" }],
    },
  ],
  "plan/gone": [
    {
      files: file("vms: { web: {}, app: {} }", { has: all }),
      before: both(applied, gone("vms", "web"), (here) => here.wait(150)),
      follow: [{ question: /./ }],
    },
  ],
  "plan/circle": [
    {
      files: file('groups: { web: { description: "${group.app.id}" }, app: { description: "${group.web.id}" } }', {
        has: all,
      }),
      follow: [{ hand: /take one of these values out of its text/, done: rewritten("${group.app.id}", "none") }],
    },
  ],
  "plan/image-unresolved": [
    {
      files: file("vms: { web: {} }", { operations: "image.list: null" }),
      follow: [
        {
          hand: /write the image's UUID as image_id/,
          done: (here) => here.edit("reconcile.yaml", "ubuntu-24.04", here.emulator.dump().images[0]!.id),
        },
      ],
    },
  ],

  "plan/stale": [
    {
      files: file("groups: { web: {} }"),
      before: both(runs("plan", "--out", "a.plan.json"), applied),
      command: ["apply", "a.plan.json", "-y"],
      follow: [{ question: /plan again/ }],
    },
  ],
  "plan/tampered": [
    {
      files: file("groups: { web: {} }"),
      before: both(runs("plan", "--out", "a.plan.json"), (here) => here.edit("a.plan.json", '"web"', '"wev"')),
      command: ["apply", "a.plan.json", "-y"],
      follow: [{ question: /plan again with --out/ }],
    },
  ],
  "plan/unreadable": [
    {
      files: { ...file("groups: { web: {} }"), "a.plan.json": "{}" },
      command: ["apply", "a.plan.json", "-y"],
      follow: [{ question: /plan again with --out/ }],
    },
  ],
  "plan/rule-kept": [
    {
      files: file(
        "groups: { web: { lifecycle: { on_rule_removal: keep }, rules: [ { protocol: tcp, dst_port: 80 }, { protocol: tcp, dst_port: 81 } ] } }",
      ),
      before: both(applied, rewritten(", { protocol: tcp, dst_port: 81 }", "")),
      follow: [
        {
          hand: /lifecycle\.on_rule_removal: replace/,
          done: rewritten("on_rule_removal: keep", "on_rule_removal: replace"),
        },
      ],
    },
  ],
} satisfies Worlds;
