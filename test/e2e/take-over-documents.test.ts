import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const place = ownPlace();
const { reconcile, write } = place;

/** The lines of a document's shell blocks, in their order. */
const commandsOf = (document: string): string[] =>
  [...readFileSync(join(root, "docs", document), "utf8").matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) =>
    block!.split("\n").filter((line) => line.startsWith("reconcile ")),
  );

const world = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { db: { name: db-1, size: 20 } }
volumes: { data: { size: 5, attach_to: db }, spare: { size: 7 } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 } ] } }
`;

describe("docs/takeover.md", () => {
  it("every command in it runs, in the order of the document", async () => {
    write(world, "declared.yaml");
    const built = await reconcile("apply", "declared.yaml", "-y", "--state", "builder.json");
    expect(built.exitCode, built.stderr).toBe(0);
    const state = await reconcile("state", "pull", "-f", "declared.yaml", "--state", "builder.json");
    const { resources } = JSON.parse(state.stdout) as { resources: Record<string, { id: string }> };
    const ids = { $WEB_GROUP: resources["group.web"]!.id, $SPARE_VOLUME: resources["volume.spare"]!.id };
    copyFileSync(join(root, "test/golden-listings/010-web-tier.json"), join(place.folder, "listing.json"));
    const commands = commandsOf("takeover.md");
    expect(commands).toHaveLength(11);
    for (const line of commands) {
      const args = line.split(/\s+/).slice(1);
      const ran = await reconcile(...args.map((word) => (word in ids ? ids[word as keyof typeof ids] : word)));
      expect(ran.exitCode, `${line}\n${ran.stdout}\n${ran.stderr}`).toBe(0);
    }
  });
});
