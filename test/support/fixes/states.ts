/** The state: what it does not know, what is damaged in it, and states of resources. */
import {
  all,
  applied,
  both,
  file,
  gone,
  head,
  held,
  itsId,
  lost,
  rewritten,
  shows,
  stranger,
  vm,
  type Worlds,
} from "./scene";

/** Its record can be read no more. */
const damaged = both(applied, (here) => here.edit("reconcile.state.json", /"sizeGb":3/, '"sizeGb":"x"'));
/** `old.json` is a copy of the state from before the file was changed and applied again. */
const changedSince = (from: string, to: string) =>
  both(applied, (here) => here.write("old.json", here.read("reconcile.state.json")), rewritten(from, to), applied);
const withMore = changedSince("data: { size: 3 }", "data: { size: 3 }, more: { size: 4 }");
const data = "volumes: { data: { size: 3 } }";
const dataAndMore = "volumes: { data: { size: 3 }, more: { size: 2 } }";

export const states = {
  "plan/state-unsaid": [
    {
      name: "stopped",
      files: file("vms: { web: {} }", { has: all }),
      before: both(applied, shows("vms", "web", "TERMINATED")),
      follow: [{ write: /states: \{ vm: \{ stopped.*?\} \}/, into: "reconcile.yaml", below: ["service", "dialect"] }],
    },
    {
      name: "gone",
      files: file("vms: { web: {}, app: {} }", { has: all }),
      before: both(applied, shows("vms", "web", "TERMINATED")),
      others: [1, 1, 0],
      follow: [{ write: /states: \{ vm: \{ gone.*?\} \}/, below: ["service", "dialect"] }, { flag: /--recreate \S+/ }],
    },
  ],
  "state/nothing-open": [
    {
      files: file(vm),
      before: applied,
      command: ["state", "resolve", "vm.web", "--not-created"],
      afterwards: [],
      follow: [{ run: /reconcile state show \S+/ }],
    },
  ],
  "state/unknown-address": [
    {
      files: file(vm),
      before: applied,
      command: ["state", "show", "vm.wev"],
      follow: [{ arg: /did you mean (\S+)\?/, insteadOf: "vm.wev" }],
    },
    {
      name: "another one altogether",
      files: file(vm),
      before: applied,
      command: ["state", "show", "vm.something"],
      afterwards: [],
      follow: [{ run: /reconcile state list/ }],
    },
  ],
  "state/no-orphan": [
    {
      files: file(vm),
      before: applied,
      command: ["orphans", "delete", "57a17000-0000-4000-8000-000000000002"],
      afterwards: [],
      follow: [{ run: /reconcile orphans list/ }],
    },
  ],
  "state/occupied": [
    {
      files: file("vms: { web: {}, app: {} }"),
      before: applied,
      command: ["state", "mv", "vm.web", "vm.app"],
      afterwards: [],
      follow: [{ run: /reconcile state mv \S+ [^\s,]+/ }],
    },
    {
      name: "by its id",
      files: file("vms: { web: {} }"),
      before: both(applied, (here) => here.write("reconcile.yaml", `${head()}vms: { app: { name: web } }\n`)),
      command: ["import", "vm.app", "web"],
      afterwards: [],
      follow: [{ run: /reconcile state mv \S+ \S+/ }],
    },
  ],
  "state/quarantined": [
    {
      name: "forgotten",
      files: file(data),
      before: damaged,
      follow: [{ question: /reconcile state rm \S+ \(it does not\)/ }],
    },
    {
      name: "it is gone",
      files: file(dataAndMore),
      before: both(damaged, gone("volumes", "data")),
      follow: [{ run: /reconcile state rm \S+/ }],
    },
    {
      name: "of what the file does not declare",
      files: file(dataAndMore),
      before: both(damaged, rewritten("data: { size: 3 }, ", "")),
      others: [0, 1, 0],
      follow: [{ run: /reconcile state rm \S+/ }],
    },
    {
      name: "imported",
      files: file(data),
      before: damaged,
      knows: itsId("data"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
  ],
  "state/empty": [
    {
      files: file("groups: { web: {} }"),
      command: ["export", "pulumi", "--out", "program"],
      follow: [{ run: /reconcile apply/ }],
    },
  ],
  "state/resolve-how": [
    {
      files: file("groups: { web: {} }"),
      service: lost("group.create", false),
      before: (here) => here.reconcile("apply", "-y"),
      command: ["state", "resolve", "group.web"],
      afterwards: ["apply", "-y"],
      follow: [{ flag: /--not-created/ }],
    },
  ],

  "state/locked": [
    {
      files: file(vm),
      before: held,
      follow: [{ run: /reconcile state unlock/ }, { run: /reconcile state unlock --force/ }],
    },
  ],
  "state/still-held": [
    {
      files: file(vm),
      before: held,
      command: ["state", "unlock"],
      afterwards: ["apply", "-y"],
      follow: [{ flag: /--force/ }],
    },
  ],
  "state/older": [
    {
      name: "of before something was made",
      files: file(data),
      before: withMore,
      command: ["state", "push", "old.json"],
      follow: [{ question: /push that with your changes/ }],
    },
    {
      name: "of the same resources",
      files: file("groups: { web: {} }"),
      before: changedSince("web: {}", "web: { description: x }"),
      command: ["state", "push", "old.json"],
      afterwards: ["apply", "-y"],
      follow: [{ flag: /--force/ }],
    },
  ],
  "state/shrinks": [
    {
      files: file("volumes: { data: { size: 3 }, more: { size: 4 } }"),
      before: both(
        applied,
        async (here) => here.write("copy.json", (await here.reconcile("state", "pull")).stdout),
        (here) =>
          here.write(
            "copy.json",
            here
              .read("copy.json")
              .replace(/"volume.more":\{.*?\}\n/, "")
              .replace(/,\n\}/, "\n}"),
          ),
      ),
      command: ["state", "push", "copy.json"],
      follow: [{ question: /push that with your changes/ }],
    },
  ],
  "state/other-lineage": [
    {
      files: file(data),
      before: both(applied, stranger("volumes: { other: { size: 3 } }"), (here) =>
        here.write("other.json", here.read("theirs/reconcile.state.json")),
      ),
      others: [0, 1, 0],
      command: ["state", "push", "other.json"],
      follow: [{ question: /push that with your changes/ }],
    },
  ],
  "state/gone": [
    {
      files: file(data),
      before: both(applied, (here) => here.remove("reconcile.state.json")),
      follow: [{ question: /on purpose/ }],
    },
  ],
  "state/elsewhere": [
    {
      files: file(data),
      before: both(applied, rewritten("project: acme", "project: acme\nstate: ./moved.json")),
      follow: [
        {
          hand: /reconcile state pull --state \S*reconcile\.state\.json \| reconcile state push --state \S*moved\.json -;/,
          done: async (here) => {
            here.write("copy.json", (await here.reconcile("state", "pull", "--state", "reconcile.state.json")).stdout);
            await here.ok("state", "push", "copy.json");
          },
        },
      ],
    },
  ],
  "state/went-back": [
    {
      files: file(data),
      before: both(withMore, (here) => here.write("reconcile.state.json", here.read("old.json"))),
      follow: [{ question: /on purpose/ }],
    },
  ],
  "state/unreadable": [
    {
      files: file(data),
      before: both(
        applied,
        (here) => here.write("copy.json", here.read("reconcile.state.json")),
        (here) => here.write("reconcile.state.json", "what"),
      ),
      knows: () => ({ COPY: "copy.json" }),
      follow: [{ run: /reconcile state push COPY --force/ }],
    },
    {
      files: file(data),
      before: (here) => here.write("reconcile.state.json", '{"version":4,"serial":3,"lineage":"a","resources":[]}'),
      follow: [
        {
          hand: /it is another program's: name another place/,
          done: rewritten("version: 1", "version: 1\nstate: ./our.json"),
        },
      ],
    },
  ],
  "state/bad-address": [
    {
      files: file(vm),
      command: ["import", "web", "1"],
      follow: [{ question: /an address is vm\.KEY/ }],
    },
  ],
  "state/no-run": [
    {
      files: file(vm),
      before: applied,
      command: ["undo", "zzzz", "-y"],
      afterwards: [],
      follow: [{ run: /reconcile history/ }],
    },
  ],
  "plan/shown-again": [
    {
      name: "a volume that was missing",
      files: file("volumes: { data: { size: 3 }, more: { size: 4 } }", { has: ["volume.list"] }),
      service: {},
      before: async (here) => {
        await applied(here);
        const id = here.idOf("data");
        const record = here.emulator.dump().volumes.find((one) => one.id === id)!;
        await gone("volumes", "data")(here);
        here.edit("reconcile.yaml", "data: { size: 3 }, ", "");
        await here.ok("apply", "-y", "--recreate", "all");
        await here.door.truth.change((world) => ({ ...world, volumes: [...world.volumes, record] }));
        here.env["ORPHAN"] = id;
      },
      command: ["orphans", "delete", "--all", "--allow-data-loss"],
      others: [0, 1, 0],
      follow: [{ run: /reconcile apply/ }],
    },
  ],
} satisfies Worlds;
