import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

const write = (rules: string): void =>
  writeFileSync(
    join(place.folder, "reconcile.yaml"),
    `version: 1\nproject: acme\nregion: in-west-1\ngroups:\n  web:\n    rules:\n${rules}`,
  );

const first = `      - { protocol: tcp, dst_port: 443 }
      - { protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/9 }
      - { protocol: tcp, dst_port: 22, remote_ip: 10.128.0.0/9 }
      - { protocol: tcp, dst_port: 5432, remote_group: web }
      - { direction: egress, protocol: tcp, dst_port: 443 }
`;
const second = `      - { protocol: tcp, dst_port: 443 }
      - { protocol: tcp, dst_port: 22, remote_ip: 0.0.0.0/1 }
      - { protocol: tcp, dst_port: 22, remote_ip: 128.0.0.0/1 }
      - { protocol: tcp, dst_port: 5432, remote_group: web }
`;

describe("who can reach what", () => {
  it("a new group: what it will admit, as exact sets, two halves as the whole they are", async () => {
    write(first);
    const ran = await reconcile("exposure");
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toBe(`Who can reach what:
  group.web
    + ingress tcp 22 from 10.0.0.0/8
    + ingress tcp 443 from anywhere (IPv4)
    + ingress tcp 5432 from group.web
    + egress tcp 443 to anywhere (IPv4)
`);
    expect(place.emulator.requests().log.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("a replacement: gained and lost, SSH open to the world, and the proof for the time between", async () => {
    write(first);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(second);
    const plan = await reconcile("plan");
    // Where it is comes first.
    expect(plan.stdout.split("\n\n")[0]?.replace(/^project .*\n/, "")).toBe(`Who can reach what changes:
  group.web
    + ingress tcp 22 from anywhere except 10.0.0.0/8
    ! SSH (tcp 22) is now open to the world over IPv4`);
    const markdown = await reconcile("plan", "--markdown");
    expect(markdown.stdout).toContain("<summary>Who can reach what: 1 group changes</summary>");
    expect(markdown.stdout).toContain("! SSH (tcp 22) is now open to the world over IPv4");
  });

  it("every spelling of the world, and parts that together are it, are refused by --deny exposure/*", async () => {
    const worlds = {
      routed: ["2000::/3"],
      quarter: ["64.0.0.0/2"],
      mapped: ["::ffff:0:0/96"],
      nat64: ["64:ff9b::/96"],
      sixtofour: ["2002::/16"],
      parts: Array.from({ length: 32 }, (_, part) => `${part * 8}.0.0.0/5`),
      friends: ["203.0.113.0/24", "10.0.0.0/8", "2a00:1450::/32"],
    };
    const groups = Object.entries(worlds).map(
      ([name, from]) =>
        `  ${name}: { rules: [${from.map((cidr) => `{ protocol: tcp, dst_port: 22, remote_ip: "${cidr}" }`).join(", ")}] }\n`,
    );
    writeFileSync(
      join(place.folder, "reconcile.yaml"),
      `version: 1\nproject: acme\nregion: in-west-1\ngroups:\n${groups.join("")}`,
    );
    const ran = await reconcile("plan", "--json", "--deny", "exposure/*");
    const open = (jsonLines(ran.stdout).at(-1)!["findings"] as { code: string; address: string }[])
      .filter(({ code }) => code === "exposure/open-port")
      .map(({ address }) => address);
    expect([ran.exitCode, open.sort()]).toEqual([
      3,
      ["group.mapped", "group.nat64", "group.parts", "group.quarter", "group.routed", "group.sixtofour"],
    ]);
  });

  it("as JSON: one object a group, the findings in the summary, and the proof told with it", async () => {
    write(first);
    await reconcile("apply", "-y");
    write(`      - { protocol: tcp, dst_port: 8443 }\n      - { protocol: tcp, dst_port: 3389 }\n`);
    const ran = await reconcile("exposure", "--json");
    const lines = jsonLines(ran.stdout) as Record<string, never>[];
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      type: "exposure",
      address: "group.web",
      ingress: {
        gained: [
          { service: "tcp 3389", peer: "anywhere", ethertype: "IPv4" },
          { service: "tcp 8443", peer: "anywhere", ethertype: "IPv4" },
        ],
        lost: [
          { service: "tcp 22", peer: "10.0.0.0/8", ethertype: "IPv4" },
          { service: "tcp 443", peer: "anywhere", ethertype: "IPv4" },
          { service: "tcp 5432", peer: "group.web", ethertype: "IPv4" },
        ],
      },
      open_ports: [{ port: 3389, service: "RDP", families: ["IPv4"], known: false }],
      proof: { holds: true, violations: [] },
      observed: true,
    });
    expect(lines[1]).toMatchObject({
      type: "summary",
      command: "exposure",
      exit_code: 0,
      diagnostics: [{ code: "exposure/open-port", address: "group.web" }],
    });
    expect((await reconcile("exposure")).stdout.replaceAll(/\s+/g, " ")).toContain(
      "= no order of its steps, and no interruption",
    );
  });

  it("says that egress rules restrict nothing where the service lets everything out by itself", async () => {
    write(first);
    await reconcile("apply", "-y");
    expect((await reconcile("exposure")).stdout).toContain(
      "! restricts nothing, since the service's own rules let it out: tcp 443 to anywhere (IPv4)",
    );
    const quiet = await reconcile("plan");
    expect(quiet.stdout).not.toContain("Who can reach what");
  });
});
