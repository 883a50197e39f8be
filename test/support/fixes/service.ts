/** The service and its credential. */
import { all, answers, applied, both, file, sets, vm, type Worlds } from "./scene";

export const service = {
  "service/no-credential": [
    {
      files: file(vm),
      before: (here) => {
        here.env["RECONCILE_TOKEN"] = "";
      },
      follow: [
        {
          hand: /Set RECONCILE_TOKEN/,
          done: (here) => {
            here.env["RECONCILE_TOKEN"] = "ops-token";
          },
        },
      ],
    },
  ],
  "service/unauthenticated": [
    {
      files: file(vm),
      emulated: { strict: true },
      before: (here) => {
        here.env["RECONCILE_TOKEN"] = "wrong";
      },
      follow: [
        {
          hand: /set RECONCILE_TOKEN/,
          done: (here) => {
            here.env["RECONCILE_TOKEN"] = "ops-token";
          },
        },
      ],
    },
  ],
  "service/no-base-url": [
    {
      files: file(vm),
      before: (here) => {
        here.env["RECONCILE_BASE_URL"] = "";
      },
      follow: [
        {
          hand: /./,
          done: (here) => {
            here.env["RECONCILE_BASE_URL"] = here.door.url;
          },
        },
      ],
    },
  ],
  "service/base-url": [
    {
      files: file(vm),
      before: (here) => {
        here.env["RECONCILE_BASE_URL"] = "ftp://x";
      },
      follow: [
        {
          hand: /Set service.base_url to/,
          done: (here) => {
            here.env["RECONCILE_BASE_URL"] = here.door.url;
          },
        },
      ],
    },
  ],
  "service/insecure-http": [
    {
      files: file(vm),
      before: (here) => {
        here.env["RECONCILE_BASE_URL"] = "http://203.0.113.9";
      },
      follow: [{ question: /--insecure-http/ }],
    },
  ],
  "service/unreadable": [
    {
      files: file(vm),
      service: {
        tell: ({ operation }) => (operation === "vm.list" ? { status: 200, body: { things: 3 } } : undefined),
      },
      follow: [{ question: /describe this answer in the dialect/ }],
    },
  ],
  "service/unavailable": [
    {
      files: file(vm),
      before: (here) => {
        here.env["RECONCILE_BASE_URL"] = "http://127.0.0.1:9";
      },
      follow: [
        { run: /reconcile doctor/ },
        {
          hand: /Check service.base_url/,
          done: (here) => {
            here.env["RECONCILE_BASE_URL"] = here.door.url;
          },
        },
      ],
      afterwards: [],
    },
  ],
  "service/throttled": [
    {
      files: file(vm),
      service: {
        hear: () => ({
          status: 429,
          headers: { "retry-after": "3600" },
          body: { error: { code: 429, message: "slow down" } },
        }),
      },
      follow: [{ hand: /run the same command again after that/, done: (here) => here.door.become({}) }],
    },
  ],
  "service/unsupported": [
    {
      files: file("vms: { web: {} }", { has: ["vm.get"] }),
      service: {
        hear: ({ operation }) =>
          operation === "vm.list"
            ? { status: 405, body: { error: { code: 405, message: "method not allowed" } } }
            : undefined,
      },
      follow: [{ question: /./ }],
    },
  ],

  "service/not_proven": [
    {
      files: file("volumes: { data: { size: 3 } }"),
      before: both(applied, (here) =>
        here.door.become({
          hear: ({ operation }) =>
            operation === "volume.get"
              ? { status: 404, text: "<html>", headers: { "content-type": "text/html" } }
              : undefined,
        }),
      ),
      command: ["plan"],
      follow: [{ question: /check the base URL/i }],
    },
  ],
  "service/forbidden": [
    {
      files: file("volumes: { data: { size: 3 } }", { has: all }),
      service: answers("volume.list", 403, "no", 99),
      command: ["plan"],
      follow: [{ question: /use a credential/ }],
    },
  ],
  "service/trial-left": [
    {
      files: file(vm),
      before: async (here) => {
        here.door.become(answers("volume.delete", 500, "no", 99));
        await here.reconcile("doctor", "--trial", "--allow-trial", "m1.small");
        here.door.become({});
      },
      command: ["doctor"],
      afterwards: [],
      follow: [{ run: /reconcile doctor --trial/ }, { flag: /--allow-trial \S+/ }],
    },
  ],
  "service/malformed-credential": [
    {
      files: file(vm),
      before: sets("RECONCILE_TOKEN", () => "a\u00e9"),
      follow: [{ hand: /Set RECONCILE_TOKEN/, done: sets("RECONCILE_TOKEN", () => "ops-token") }],
    },
  ],
  "service/invalid_id": [
    {
      files: file(vm),
      command: ["import", "vm.web", "a\nb"],
      follow: [{ question: /give the id as the service shows it/ }],
    },
  ],
  "trust/address": [
    {
      files: file(vm, { service: ", base_url: http://127.0.0.1:1" }),
      before: sets("RECONCILE_BASE_URL", () => ""),
      command: ["plan", "--no-programs"],
      follow: [{ hand: /RECONCILE_BASE_URL/, done: sets("RECONCILE_BASE_URL", (here) => here.door.url) }],
    },
  ],
} satisfies Worlds;
