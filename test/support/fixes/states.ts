/** The state: what it does not know, what is damaged in it, and states of resources. */
import { all, applied, both, file, gone, head, itsId, lost, rewritten, shows, vm, type Worlds } from "./scene";

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
      follow: [{ run: /reconcile state rm \S+/ }],
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
      files: file("volumes: { data: { size: 3 } }"),
      before: both(applied, (here) => here.edit("reconcile.state.json", /"sizeGb":3/, '"sizeGb":"x"')),
      follow: [{ question: /reconcile state rm \S+ \(it does not\)/ }],
    },
    {
      name: "it is gone",
      files: file("volumes: { data: { size: 3 }, more: { size: 2 } }"),
      before: both(
        applied,
        (here) => here.edit("reconcile.state.json", /"sizeGb":3/, '"sizeGb":"x"'),
        gone("volumes", "data"),
      ),
      follow: [{ run: /reconcile state rm \S+/ }],
    },
    {
      name: "of what the file does not declare",
      files: file("volumes: { data: { size: 3 }, more: { size: 2 } }"),
      before: both(
        applied,
        (here) => here.edit("reconcile.state.json", /"sizeGb":3/, '"sizeGb":"x"'),
        rewritten("data: { size: 3 }, ", ""),
      ),
      others: [0, 1, 0],
      follow: [{ run: /reconcile state rm \S+/ }],
    },
    {
      name: "imported",
      files: file("volumes: { data: { size: 3 } }"),
      before: both(applied, (here) => here.edit("reconcile.state.json", /"sizeGb":3/, '"sizeGb":"x"')),
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
} satisfies Worlds;
