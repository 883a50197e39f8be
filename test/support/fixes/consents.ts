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

  "check/flavor": [
    {
      files: file("checks: { flavors: [m1.large] }\nvms: { web: { flavor_id: m1.small } }"),
      follow: [
        { hand: /one of m1\.large/, done: rewritten("web: { flavor_id: m1.small }", "web: { flavor_id: m1.large }") },
      ],
    },
  ],
  "check/name": [
    {
      files: file('checks: { names: { vm: "acme-.*" } }\nvms: { web: {} }'),
      follow: [{ hand: /checks\.names\.vm/, done: rewritten("web: {}", "web: { name: acme-web }") }],
    },
  ],
  "check/lifecycle": [
    {
      files: file("checks: { lifecycle: { volume: { prevent_destroy: true } } }\nvolumes: { data: { size: 3 } }"),
      follow: [{ word: /lifecycle: \{.*\}/, insteadOf: /(?<=size: 3)/, joins: ", ", line: "volumes" }],
    },
  ],
  "check/removals": [
    {
      files: file("checks: { at_most: { remove: 1 } }\ngroups: { web: {}, app: {}, sql: {} }", { has: all }),
      before: both(applied, rewritten("web: {}, app: {}, sql: {}", "sql: {}")),
      follow: [{ hand: /or raise checks\.at_most\.remove/, done: rewritten("remove: 1", "remove: 2") }],
    },
  ],
  "check/monthly-cost": [
    {
      files: file(
        "prices: { currency: EUR, volume_gb: 1 }\nchecks: { at_most: { monthly_cost: 5 } }\nvolumes: { data: { size: 6 } }",
      ),
      follow: [{ hand: /raise checks\.at_most\.monthly_cost/, done: rewritten("monthly_cost: 5", "monthly_cost: 6") }],
    },
  ],
  "check/monthly-increase": [
    {
      files: file(
        "prices: { currency: EUR, volume_gb: 1 }\nchecks: { at_most: { monthly_increase: 5 } }\nvolumes: { data: { size: 6 } }",
      ),
      follow: [
        {
          hand: /raise checks\.at_most\.monthly_increase/,
          done: rewritten("monthly_increase: 5", "monthly_increase: 6"),
        },
      ],
    },
  ],
  "check/cost-unknown": [
    {
      files: file(
        "prices: { currency: EUR }\nchecks: { at_most: { monthly_cost: 5 } }\nvolumes: { data: { size: 6 } }",
      ),
      follow: [
        { hand: /add the price to the list/, done: rewritten("currency: EUR", "currency: EUR, volume_gb: 0.50") },
      ],
    },
  ],
  "check/region": [
    {
      files: file("checks: { regions: [in-south-1] }\nvms: { web: {} }"),
      follow: [{ hand: /one of in-south-1/, done: rewritten("region: in-west-1", "region: in-south-1") }],
    },
  ],
  "check/image": [
    {
      files: file("checks: { images: [debian-12] }\nvms: { web: {} }"),
      follow: [{ hand: /one of debian-12/, done: rewritten("image_id: ubuntu-24.04", "image_id: debian-12") }],
    },
  ],
  "check/hours": [
    {
      files: file('checks: { hours: { days: [mon], from: "00:00", to: "00:01" } }\nvms: { web: {} }'),
      follow: [{ hand: /change checks\.hours/, done: rewritten(/checks:.*\n/, "") }],
    },
  ],
  "policy/failed": [
    {
      files: file('policy: { command: ["false"] }\nvms: { web: {} }'),
      follow: [{ hand: /print a JSON list of findings/, done: rewritten('["false"]', '[echo, "[]"]') }],
    },
  ],
  "policy/not-run": [
    {
      files: file('policy: { command: [echo, "[]"] }\nvms: { web: {} }'),
      command: ["apply", "-y", "--no-programs", "--strict"],
      follow: [{ question: /./ }],
    },
  ],
  "reachability/violated": [
    {
      files: file(
        "reachability: [ { never: { from: internet, to: group.web, tcp: 22 } } ]\ngroups: { web: { rules: [ { protocol: tcp, dst_port: 22 } ] } }",
      ),
      follow: [{ hand: /narrow/, done: rewritten("dst_port: 22 }", "dst_port: 22, remote_ip: 10.0.0.0/8 }") }],
    },
  ],
  "exposure/open-port": [
    {
      files: file("groups: { web: { rules: [ { protocol: tcp, dst_port: 22 } ] } }"),
      command: ["apply", "-y", "--deny", "exposure/open-port"],
      follow: [
        {
          hand: /name the networks that need it in remote_ip/,
          done: rewritten("dst_port: 22 }", "dst_port: 22, remote_ip: 10.0.0.0/8 }"),
        },
      ],
    },
  ],
} satisfies Worlds;
