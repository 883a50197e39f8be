/** The service and its credential. */
import { file, vm, type Worlds } from "./scene";

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
} satisfies Worlds;
