/** What a file says of ssh: and rollout: in its own words, and what is wrong with it, a row each. */
import { describe, expect, it } from "vitest";
import type { DesiredVm } from "../../reconciler/core/model/desired";
import { readText, resourceOf } from "../support/desired-file";

const problems = (body: string): string[] =>
  readText(body).diagnostics.map(({ code, summary, detail, fix }) =>
    [`${code.slice("config/".length)}: ${summary}`, detail, fix].filter((one) => one !== undefined).join(" | "),
  );
const vms = "vms: { web: { for_each: 2 }, bastion: {}, store: {} }\n";

describe("ssh:", () => {
  it.each<[what: string, body: string, problems: readonly string[]]>([
    ["a user", `${vms}ssh: { user: ubuntu }`, []],
    [
      "a user with a space",
      `${vms}ssh: { user: 'a b' }`,
      ['invalid-value: user cannot be "a b" | expected the name of a user: letters, digits, _ . + and -'],
    ],
    ["a jump over a VM", `${vms}ssh: { jump: vm.bastion }`, []],
    ["a jump over another machine", `${vms}ssh: { jump: ops@gate.example }`, []],
    ["no jump", `${vms}ssh: { jump: none }`, []],
    [
      "a jump that is nothing",
      `${vms}ssh: { jump: 'a b' }`,
      ['invalid-value: jump cannot be "a b" | expected the address of a VM such as vm.bastion, user@host, or none'],
    ],
    [
      "a jump over a VM that is written like a host",
      `${vms}ssh: { jump: 'ops@vm.bastion:2222' }`,
      [
        'invalid-value: jump cannot be "ops@vm.bastion:2222" | expected the address of the VM alone; its own ssh: says its user and its port',
      ],
    ],
    ["a jump over a host that is called like no VM", `${vms}ssh: { jump: 'ops@vm.example' }`, []],
    [
      "a jump over a VM that is nearly there",
      `${vms}ssh: { jump: vm.bastoin }`,
      ["unknown-reference: jump names vm.bastoin, which is not declared | write vm.bastion"],
    ],
    [
      "a jump over a VM that is not there",
      `${vms}ssh: { jump: vm.nothing-alike }`,
      ["unknown-reference: jump names vm.nothing-alike, which is not declared | name a VM of this file, or user@host"],
    ],
    [
      "a jump over a block with for_each",
      `${vms}ssh: { jump: vm.web }`,
      [
        "unknown-reference: jump names vm.web, which is not declared | its block has a for_each: vm.web[0], vm.web[1] | write vm.web[0]",
      ],
    ],
    [
      "a jump of a VM over itself",
      "vms: { web: { ssh: { jump: vm.web } } }",
      ['invalid-value: jump cannot be "vm.web" | expected another machine than the VM itself, or none'],
    ],
    [
      "jumps in a circle",
      "vms: { web: { ssh: { jump: vm.store } }, store: { ssh: { jump: vm.web } } }",
      [
        'invalid-value: jump cannot be "vm.store" | expected a way that ends; this one is a circle: vm.web -> vm.store -> vm.web',
        'invalid-value: jump cannot be "vm.web" | expected a way that ends; this one is a circle: vm.store -> vm.web -> vm.store',
      ],
    ],
    [
      "a way into a circle that it is not part of",
      "vms: { app: { ssh: { jump: vm.web } }, web: { ssh: { jump: vm.store } }, store: { ssh: { jump: vm.web } } }",
      [
        'invalid-value: jump cannot be "vm.store" | expected a way that ends; this one is a circle: vm.web -> vm.store -> vm.web',
        'invalid-value: jump cannot be "vm.web" | expected a way that ends; this one is a circle: vm.store -> vm.web -> vm.store',
      ],
    ],
    ["a key in the home folder", `${vms}ssh: { identity_file: ~/.ssh/id }`, []],
    [
      "a key with a quote",
      `${vms}ssh: { identity_file: 'a"b' }`,
      [
        String.raw`invalid-value: identity_file cannot be "a\"b" | expected the path of a private key, without quotes and no dash before it`,
      ],
    ],
    [
      "a key with a dash before it",
      `${vms}ssh: { identity_file: '-i' }`,
      [
        'invalid-value: identity_file cannot be "-i" | expected the path of a private key, without quotes and no dash before it',
      ],
    ],
    ["a port", `${vms}ssh: { port: 2222 }`, []],
    ["the last port", `${vms}ssh: { port: 65535 }`, []],
    [
      "a port behind the last",
      `${vms}ssh: { port: 65536 }`,
      ["invalid-value: port cannot be 65536 | expected a port from 1 to 65535"],
    ],
    ["no port", `${vms}ssh: { port: 0 }`, ["invalid-value: port cannot be 0 | expected a port from 1 to 65535"]],
    [
      "a port in words",
      `${vms}ssh: { port: ssh }`,
      ['invalid-value: port cannot be "ssh" | expected a port from 1 to 65535'],
    ],
  ])("%s", (_, body, expected) => expect(problems(body)).toEqual(expected));

  it("is what all VMs have, and what single ones have beside it", () => {
    const { ssh } = readText(
      `vms: { web: { ssh: { user: admin, identity_file: keys/web, port: 2222 } } }\nssh: { user: ubuntu, identity_file: /k }`,
    );
    expect(ssh?.all).toMatchObject({ user: "ubuntu", identityFile: "/k" });
    expect(ssh?.all.beside).toBeUndefined();
    expect(ssh?.each.get("vm.web")).toMatchObject({
      user: "admin",
      identityFile: "keys/web",
      beside: "reconcile.yaml",
      port: 2222,
    });
    expect(readText("vms: { web: {} }").ssh).toBeUndefined();
  });
  it.each(["~/k", "/k", String.raw`\\k`, "C:/k"])("the key %s stands where it says, whatever file says it", (path) =>
    expect(readText(`vms: {}\nssh: { identity_file: '${path}' }`).ssh?.all.beside).toBeUndefined(),
  );
});

describe("rollout:", () => {
  const rollouts = (body: string) =>
    readText(body).desired?.rollouts?.map(({ name, members, maxUnavailable, canary, timeoutMs, reverts }) => ({
      name,
      members,
      maxUnavailable,
      canary,
      timeoutMs,
      reverts,
    }));
  const one = {
    name: "one",
    members: ["vm.web[0]", "vm.web[1]"],
    maxUnavailable: { count: 1 },
    canary: undefined,
    timeoutMs: 120_000,
    reverts: undefined,
  };
  it.each<[what: string, body: string, rollouts: readonly object[] | undefined]>([
    ["a block", `${vms}rollout: { one: { of: vm.web } }`, [one]],
    [
      "instances, each once",
      `${vms}rollout: { one: { of: ['vm.web[1]', vm.web] } }`,
      [{ ...one, members: ["vm.web[1]", "vm.web[0]"] }],
    ],
    [
      "a number",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: 2 } }`,
      [{ ...one, maxUnavailable: { count: 2 } }],
    ],
    [
      "a share",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: 50% } }`,
      [{ ...one, maxUnavailable: { percent: 50 } }],
    ],
    [
      "all of them",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: 100% } }`,
      [{ ...one, maxUnavailable: { percent: 100 } }],
    ],
    ["some first", `${vms}rollout: { one: { of: vm.web, canary: 1 } }`, [{ ...one, canary: 1 }]],
    ["a time", `${vms}rollout: { one: { of: vm.web, timeout: 9s } }`, [{ ...one, timeoutMs: 9000 }]],
    [
      "a way back",
      `${vms}rollout: { one: { of: vm.web, check: { tcp: 22 }, on_failure: revert } }`,
      [{ ...one, reverts: true }],
    ],
    ["none", vms, undefined],
    ["of a block itself", "vms: { web: { for_each: 2, max_unavailable: 1 } }", [{ ...one, name: "vm.web" }]],
  ])("%s", (_, body, expected) => expect(rollouts(body)).toEqual(expected));

  const amount = "expected how many may be down at a time: a number, or a share such as 25%";
  it.each<[what: string, body: string, problems: readonly string[]]>([
    [
      "none may be down",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: 0 } }`,
      [`invalid-value: max_unavailable cannot be 0 | ${amount}`],
    ],
    [
      "none of a hundred may be down",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: 0% } }`,
      [`invalid-value: max_unavailable cannot be "0%" | ${amount}`],
    ],
    [
      "more than all may be down",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: 101% } }`,
      [`invalid-value: max_unavailable cannot be "101%" | ${amount}`],
    ],
    [
      "many may be down",
      `${vms}rollout: { one: { of: vm.web, max_unavailable: many } }`,
      [`invalid-value: max_unavailable cannot be "many" | ${amount}`],
    ],
    [
      "a block of which many may be down",
      "vms: { web: { for_each: 2, max_unavailable: many } }",
      [`invalid-value: max_unavailable cannot be "many" | ${amount}`],
    ],
    [
      "half a VM first",
      `${vms}rollout: { one: { of: vm.web, canary: 0.5 } }`,
      ["invalid-value: canary cannot be 0.5 | expected how many go first: 1"],
    ],
    ["of nothing", `${vms}rollout: { one: { max_unavailable: 1 } }`, ["missing: of is missing | add of: [vm.KEY]"]],
    [
      "of a volume",
      `${vms}volumes: { data: { size: 1 } }\nrollout: { one: { of: volume.data } }`,
      ['invalid-value: of cannot be "volume.data" | expected a VM of this file: vm.KEY, or vm.KEY[EACH]'],
    ],
    [
      "of an instance that is not there",
      `${vms}rollout: { one: { of: ['vm.web[7]'] } }`,
      ['invalid-value: of cannot be "vm.web[7]" | expected a VM of this file: vm.KEY, or vm.KEY[EACH] | write vm.web'],
    ],
    [
      "a way back without a check",
      `${vms}rollout: { one: { of: vm.web, on_failure: revert } }`,
      ["missing: check is missing | add check: { tcp: 22 }, which says when a VM has to go back"],
    ],
  ])("%s", (_, body, expected) => expect(problems(body)).toEqual(expected));

  const verifyOf = (body: string, address: string) => {
    const { desired } = readText(body);
    if (desired === undefined) throw new Error(JSON.stringify(readText(body).diagnostics));
    return resourceOf<DesiredVm>(desired, address).lifecycle.verifyResize;
  };
  const own = "vms: { web: { lifecycle: { verify_resize: { check: { tcp: 1 } } } }, store: {} }\n";
  it("gives a VM its check where a rollout reverts and the VM has none of its own", () => {
    const back = "rollout: { one: { of: [vm.web, vm.store], check: { tcp: 22 }, timeout: 9s, on_failure: revert } }";
    expect(verifyOf(own + back, "vm.store")).toMatchObject({
      check: { kind: "tcp", port: 22 },
      timeoutMs: 9000,
      onFailure: "revert",
    });
    expect(verifyOf(own + back, "vm.web")).toMatchObject({ check: { kind: "tcp", port: 1 } });
    const forward = "rollout: { one: { of: [vm.store], check: { tcp: 22 } } }";
    expect(verifyOf(own + forward, "vm.store").check).toBeUndefined();
  });
});
