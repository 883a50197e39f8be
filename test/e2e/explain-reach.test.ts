import { describe, expect, it } from "vitest";
import { done, ownPlace, said } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

describe("explain reach", () => {
  it("takes a VM by its recorded addresses, a group of a component by its short name, and cuts no name", async () => {
    place.write(
      `component: 1
groups:
  lb: { name: "\${component}-lb" }
  web: { name: "\${component}-web", rules: [{ protocol: tcp, dst_port: 80, remote_group: lb }] }
`,
      "tier.yaml",
    );
    place.declare({
      components: { shop: { from: "./tier.yaml" } },
      vms: { bastion: { name: "bastion-1" } },
      groups: { bastion: { name: "bastion-1" } },
    });
    const early = await reconcile("explain", "reach", "vm.bastion", "shop/web:80");
    expect([early.exitCode, said(early)]).toEqual([
      1,
      expect.stringContaining("the state knows no address of vm.bastion"),
    ]);
    expect(said(early)).not.toContain("write bastion");
    await done(reconcile("apply", "-y"));
    const [vm] = place.emulator.dump().vms;
    const asked = await done(reconcile("explain", "reach", "vm.bastion", "shop/web:80"));
    expect(asked.stdout).toContain(`${vm?.private_ip}/32,${vm?.floating_ip}/32 -> shop/group.web 80`);
    const group = await done(reconcile("explain", "reach", "shop/lb", "shop/group.web:80"));
    expect(group.stdout).toContain("remote_group: shop/lb");
  });

  it("knows a rule that follows the address of a VM as the file's, once the address is recorded", async () => {
    place.declare({
      vms: { bastion: { name: "bastion-1" } },
      groups: {
        web: {
          rules: [
            { protocol: "tcp", dst_port: 443, remote_ip: "0.0.0.0/0" },
            { protocol: "tcp", dst_port: 22, remote_ip: "${vm.bastion.private_ip}" },
          ],
        },
      },
      reachability: [{ never: { from: "10.0.0.0/8", to: "group.web", tcp: 22 } }],
    });
    const asked = async (from: string) => (await done(reconcile("explain", "reach", from, "web:22"))).stdout;
    expect(await asked("203.0.113.7")).toContain("cannot be said");
    // What the new VM will have is known once it is there.
    await done(reconcile("apply", "-y"));
    expect(await asked("203.0.113.7")).toContain("ingress of group.web: not admitted");
    const [vm] = place.emulator.dump().vms;
    const rule = `group.web rules[1] { tcp 22, remote_ip: ${vm?.private_ip}/32 }`;
    expect(await asked(String(vm?.private_ip))).toContain(`admitted\n    by ${rule}`);
    expect(said(await reconcile("plan"))).toContain(`admitted now, and after the plan by ${rule}`);
  });
});

describe("the place of a state", () => {
  it("takes no rule for missing whose values are looked up elsewhere", async () => {
    place.declare({
      lookups: { office: { vm: { name: "office" } } },
      groups: {
        web: {
          rules: [
            { protocol: "tcp", dst_port: 443, remote_ip: "0.0.0.0/0" },
            { protocol: "tcp", dst_port: 22, remote_ip: "10.0.0.0/8", description: "for ${lookup.office.name}" },
          ],
        },
      },
    });
    const asked = async (port: number) => (await done(reconcile("explain", "reach", "10.0.0.1", `web:${port}`))).stdout;
    expect(await asked(22)).toMatch(/cannot be said(?!.*missing)/s);
    expect(await asked(443)).toContain("group.web: admitted\n");
  });

  it("that is nearly an address is no file of that name", async () => {
    place.declare({ groups: { web: { name: "web-1" } } });
    for (const wrong of [
      ...["s3//bucket/key", "s3:/bucket/key", "https:/host/state", "postgres//host/db", "s3:bucket/key", "file:a.json"],
      ...["~/state.json", "~ann/state.json", "gitlab.example/api/v4/projects/1/terraform/state/a", "host:8080/state"],
    ]) {
      const ran = await reconcile("plan", "--state", wrong);
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("is no address, and no likely file")]);
    }
    const hidden = await reconcile("plan", "--state", "postgres:/x:canary@host/db");
    expect(said(hidden)).toContain("the state postgres:/host/db is no address");
    expect(said(hidden)).not.toContain("canary");
    expect(said(await reconcile("plan", "--state", "file:a.json"))).toContain("leave file: out");
    const checked = await reconcile("state", "check", "~/state.json");
    expect([checked.exitCode, said(checked)]).toEqual([1, expect.stringContaining("no likely file")]);
    for (const file of ["./s3//bucket", "./~/state.json", "~state.json", "a.b/state.json"])
      await done(reconcile("plan", "--state", file));
    for (const wrong of ["file://elsewhere/state", "file:///a%2fb"]) {
      const ran = await reconcile("plan", "--state", wrong);
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining(`${wrong} is no file of this machine`)]);
    }
  });
});
