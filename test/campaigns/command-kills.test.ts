import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { misbehaviour } from "../support/captured-command";
import { momentsOf } from "../support/mortal";
import { countInProcess, killAt } from "../support/oracles";
import { changeScenes, type Theatre } from "../support/theatre";
import { shapeOf } from "../support/world-shape";

/** Every n-th kill point is tried. */
const stride = Number(process.env["PROCESS_KILL_STRIDE"] ?? 17);

interface Command {
  readonly story: string;
  /** Makes the world and the folder ready for it. */
  readonly args: (theatre: Theatre) => Promise<readonly string[]>;
}

/** Commands beside apply and destroy that write the state or change the service, on the world before of a story. */
const commands: Readonly<Record<string, Command>> = {
  "state mv": {
    story: "attach a volume that exists",
    args: async () => ["state", "mv", "volume.data", "volume.other"],
  },
  "state rm": { story: "attach a volume that exists", args: async () => ["state", "rm", "volume.data"] },
  import: {
    story: "take over what exists, and change it",
    args: async (theatre) => ["import", "vm.web", theatre.dump().vm.find(({ name }) => name === "web")!.id],
  },
  "orphans delete": {
    story: "delete a VM and keep its volume",
    args: async (theatre) => {
      await theatre.run();
      const [orphan] = (await theatre.state()).orphans.values();
      return ["orphans", "delete", orphan!.id, "--allow-data-loss"];
    },
  },
  "group import": {
    story: "rename a VM",
    args: async (theatre) => {
      const rule = { FromPort: 443, ToPort: 443, IpProtocol: "tcp", IpRanges: [{ CidrIp: "0.0.0.0/0" }] };
      const group = (name: string) => ({ GroupName: name, Description: "listed", IpPermissions: [rule] });
      const listing = JSON.stringify({ SecurityGroups: [group("first"), group("second")] });
      writeFileSync(join(theatre.folder, "listing.json"), listing);
      return ["group", "import", join(theatre.folder, "listing.json")];
    },
  },
};

describe("a command killed at any request or durable write leads, run again, to where it would have led", () => {
  for (const [title, { story, args }] of Object.entries(commands))
    it(title, async () => {
      const scene = changeScenes.find((one) => one.story === story && one.service === "everything");
      const theatre = await scene!.open();
      const prepare = async (): Promise<readonly string[]> => {
        await theatre.reset();
        return args(theatre);
      };
      try {
        const counts = await countInProcess(theatre, await prepare());
        const expected = await outcomeOf(theatre);
        const again = await prepare();
        expect(await outcomeOf(theatre), "the command changes something").not.toEqual(expected);
        const moments = momentsOf(counts).filter((_, index) => index % stride === 0);
        const violations: string[] = [];
        for (const moment of moments) {
          violations.push(...(await killAt(theatre, moment, await prepare())));
          // What it finds done already it may refuse to do again; what counts is what is there afterwards.
          violations.push(...misbehaviour(await theatre.command(again)).map((problem) => `next run: ${problem}`));
          const found = await outcomeOf(theatre);
          if (JSON.stringify(found) !== JSON.stringify(expected))
            violations.push(`${moment.when} ${moment.of} ${moment.nth}: ${JSON.stringify(found)}`);
        }
        countCampaign("killed commands", moments.length, violations.length);
        expect(violations.join("\n")).toEqual("");
      } finally {
        await theatre.close();
      }
    });
});

/** The world without its ids, and the state without its count of writes. */
async function outcomeOf(theatre: Theatre) {
  const { resources, intents, orphans } = await theatre.state();
  return { world: shapeOf(theatre.dump()), resources: [...resources], intents: [...intents], orphans: [...orphans] };
}
