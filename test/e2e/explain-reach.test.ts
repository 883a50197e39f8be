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
});

describe("the place of a state", () => {
  it("that is nearly an address is no file of that name", async () => {
    place.declare({ groups: { web: { name: "web-1" } } });
    for (const wrong of ["s3//bucket/key", "s3:/bucket/key", "https:/host/state", "postgres//host/db"]) {
      const ran = await reconcile("plan", "--state", wrong);
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("is no address, and no likely file")]);
    }
    await done(reconcile("plan", "--state", "./s3//bucket"));
    for (const wrong of ["file://elsewhere/state", "file:///a%2fb"]) {
      const ran = await reconcile("plan", "--state", wrong);
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining(`${wrong} is no file of this machine`)]);
    }
  });
});
