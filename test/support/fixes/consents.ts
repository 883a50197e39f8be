/** Consents that a plan needs. */
import { all, applied, both, file, gone, rewritten, vm, type Worlds } from "./scene";

export const consents = {
  "consent/data-loss": [
    {
      files: file("vms: { web: {} }"),
      before: both(applied, rewritten("web: {}", "web: { image_id: debian-12 }")),
      follow: [{ flag: /--allow-loss \S+/ }],
    },
    {
      name: "all",
      files: file("vms: { web: {} }"),
      before: both(applied, rewritten("web: {}", "web: { image_id: debian-12 }")),
      follow: [{ flag: /--allow-data-loss/ }],
    },
  ],
  "consent/empty": [
    {
      files: file("groups: { web: {} }"),
      before: both(applied, rewritten("groups: { web: {} }", "")),
      follow: [{ flag: /--allow-empty/ }],
    },
  ],
  "consent/flush": [
    {
      files: file("vms: { web: {} }\nvolumes: { data: { size: 3, attach_to: web } }"),
      before: both(applied, rewritten("size: 3,", "size: 4,")),
      follow: [{ flag: /--confirm-flush \S+/ }],
    },
  ],
  "consent/removal": [
    {
      files: file('groups: { web: { for_each: 6, name: "web-${each}" } }', { has: all }),
      before: both(applied, rewritten("for_each: 6", "for_each: 1")),
      follow: [{ flag: /--allow-removal \d+/ }],
    },
  ],
  "consent/prevent-destroy": [
    {
      files: file("groups: { web: { lifecycle: { prevent_destroy: true } }, app: {} }"),
      before: both(applied, rewritten(/groups: .*/, "groups: { app: {} }")),
      follow: [{ question: /./ }],
    },
    {
      name: "still in the file",
      files: file("vms: { web: { lifecycle: { prevent_destroy: true } } }"),
      before: both(applied, rewritten("web: {", "web: { image_id: debian-12,")),
      follow: [{ question: /./ }],
    },
  ],
  "consent/approval": [{ files: file(vm), command: ["apply"], follow: [{ flag: /--auto-approve/ }] }],
  "consent/recreate": [
    {
      files: file("groups: { web: {} }", { has: all }),
      before: both(applied, gone("groups", "web")),
      follow: [{ flag: /--recreate \S+|--accept-service/ }],
    },
    {
      name: "a VM",
      files: file("vms: { web: {}, app: {} }", { has: all }),
      before: both(applied, gone("vms", "web"), (here) => here.wait(150)),
      others: [0, 1, 0],
      follow: [{ flag: /--recreate \S+/ }],
    },
  ],
  "consent/accept-service": [
    {
      name: "another address",
      files: file("groups: { web: {} }", { has: all }),
      before: both(applied, (here) => {
        here.env["RECONCILE_BASE_URL"] = here.emulator.url;
      }),
      follow: [{ run: /reconcile apply --accept-service/ }],
    },
    {
      name: "another project",
      files: file("groups: { web: {} }", { has: all }),
      before: both(applied, rewritten("project: acme", "project: other")),
      follow: [{ run: /reconcile apply --accept-service/ }],
    },
  ],
} satisfies Worlds;
