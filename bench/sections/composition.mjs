// What components and values that only the service knows cost a plan, beside the same resources written out.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, inTurns, runOnce } from "../processes.mjs";
import { limit } from "../table.mjs";

const vm =
  'owner: ops@acme.example, user_id: "1042", image_id: 00000000-0000-4000-8003-000000000001, flavor_id: m1.small, size: 10';
const head = "version: 1\nproject: acme\nregion: in-west-1\n";
const tiers = 1000;

const each = (make) => Array.from({ length: tiers }, (_, n) => make(n)).join("");
const written = `${head}vms:
${each((n) => `  web-${n}: { name: web-${n}, ${vm} }\n`)}volumes:
${each((n) => `  disk-${n}: { size: 20, attach_to: web-${n} }\n`)}groups:
${each((n) => `  sg-${n}: { rules: [ { protocol: tcp, dst_port: 443, remote_ip: 10.0.0.0/8 } ] }\n`)}`;
const composed = `${head}components:
  tier: { from: ./tier.yaml, for_each: ${tiers}, with: { name: "\${each}" } }
`;
const tier = `component: 1
parameters: { name: { type: text } }
vms: { web: { name: "web-\${param.name}", ${vm} } }
volumes: { disk: { name: "disk-\${param.name}", size: 20, attach_to: web } }
groups:
  sg: { name: "sg-\${param.name}", rules: [ { protocol: tcp, dst_port: 443, remote_ip: 10.0.0.0/8 } ] }
outputs: { address: "\${vm.web.private_ip}" }
`;

export async function measure({ scratch, full, note }) {
  note(`composition: ${tiers} tiers`);
  const folderOf = async (name, files) => {
    const cwd = join(scratch, name);
    mkdirSync(cwd);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
    const embedded = ["--base-url", "embedded", "--time-scale", "0", "--log-level", "silent"];
    await runOnce({ argv: [process.execPath, cli, "apply", "-y", ...embedded], cwd });
    return { argv: [process.execPath, cli, "plan", "--no-refresh", ...embedded], cwd };
  };
  const { plain, components } = await inTurns(
    {
      plain: await folderOf("written-out", { "reconcile.yaml": written }),
      components: await folderOf("composed", { "reconcile.yaml": composed, "tier.yaml": tier }),
    },
    full ? 7 : 3,
  );
  return [
    limit(
      `no-op plan of ${3 * tiers} resources in ${tiers} components with an output each`,
      components,
      plain,
      "the same written out",
      1.25,
    ),
  ];
}
