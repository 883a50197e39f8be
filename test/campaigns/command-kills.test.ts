import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { type CliStage, killsOf, openCliStage } from "../support/cli-stage";
import { type Story, stories } from "../support/stories";
import { readDump, shapeOf } from "../support/world-shape";

/** Every n-th kill point is tried. */
const stride = Number(process.env["PROCESS_KILL_STRIDE"] ?? 17);

/** Commands beside apply and destroy that write the state or change the service, on the world before of a story. */
const commands: Readonly<
  Record<string, { readonly story: Story; readonly args: (stage: CliStage) => Promise<readonly string[]> }>
> = {
  "state mv": {
    story: stories["attach a volume that exists"]!,
    args: async () => ["state", "mv", "volume.data", "volume.other"],
  },
  "state rm": { story: stories["attach a volume that exists"]!, args: async () => ["state", "rm", "volume.data"] },
  import: {
    story: stories["take over what exists, and change it"]!,
    args: async (stage) => ["import", "vm.web", await idOf(stage, "vms", "web")],
  },
  "orphans delete": {
    story: stories["delete a VM and keep its volume"]!,
    args: async (stage) => {
      const ran = await stage.run(["orphans", "list"]);
      const line = ran.stdout.split("\n").find((text) => text.includes('"type":"orphan"'));
      return ["orphans", "delete", (JSON.parse(line!) as { id: string }).id, "--allow-data-loss"];
    },
  },
  "group import": {
    story: stories["rename a VM"]!,
    args: async (stage) => {
      const rule = { FromPort: 443, ToPort: 443, IpProtocol: "tcp", IpRanges: [{ CidrIp: "0.0.0.0/0" }] };
      const group = (name: string) => ({ GroupName: name, Description: "listed", IpPermissions: [rule] });
      const listing = JSON.stringify({ SecurityGroups: [group("first"), group("second")] });
      writeFileSync(join(stage.folder, "listing.json"), listing);
      return ["group", "import", "listing.json"];
    },
  },
};

describe("a command killed at any request or durable write leads, run again, to where it would have led", () => {
  for (const [title, { story, args }] of Object.entries(commands))
    it(title, async () => {
      const stage = await openCliStage(story, "everything");
      try {
        const prepare = async (): Promise<readonly string[]> => {
          await stage.reset();
          if (title === "orphans delete") await stage.edit();
          return args(stage);
        };
        const counts = await stage.measure(await prepare());
        const expected = await outcomeOf(stage);
        const again = await prepare();
        expect(await outcomeOf(stage), "the command changes something").not.toEqual(expected);
        expect(again.length).toBeGreaterThan(0);
        const kills = killsOf(counts).filter((_, index) => index % stride === 0);
        const violations: string[] = [];
        for (const kill of kills) {
          const killed = await stage.edit({ args: await prepare(), kill });
          if (killed.signal !== "SIGKILL" && killed.exitCode !== 0) violations.push(`not killed: ${killed.stderr}`);
          // What it finds done already it may refuse to do again; what counts is what is there afterwards.
          const next = await stage.edit({ args: again });
          if (next.signal !== null || /^\s+at /m.test(next.stderr)) violations.push(`next run: ${next.stderr}`);
          const found = await outcomeOf(stage);
          if (JSON.stringify(found) !== JSON.stringify(expected))
            violations.push(`${kill.when} ${kill.at} ${kill.nth}: ${JSON.stringify(found)}`);
        }
        countCampaign("killed commands", kills.length, violations.length);
        expect(violations.join("\n")).toEqual("");
        expect(readdirSync(stage.folder)).toContain("reconcile.state.json");
      } finally {
        await stage.close();
      }
    });
});

async function idOf(stage: CliStage, table: string, name: string): Promise<string> {
  const world = (await stage.control("GET", "/world")) as Record<string, { id: string; name: string }[]>;
  return world[table]!.find((row) => row.name === name)!.id;
}

/** The world without its ids, and the state without its count of writes. */
async function outcomeOf(stage: CliStage) {
  const { stdout } = await stage.run(["state", "pull"]);
  const { resources, intents, orphans } = JSON.parse(stdout) as Record<string, unknown>;
  return { world: shapeOf(readDump(await stage.control("GET", "/world"))), resources, intents, orphans };
}
