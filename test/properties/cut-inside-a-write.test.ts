/**
 * The disk is full, or the power fails, inside one write of the journal: k bytes of it are there and the rest is not.
 * Whatever k is, the state that is read is the one from before that write or from after one of its whole parts, and the
 * next run goes on from there: nothing is made twice, nothing is lost, and where the service has lists, nothing asks for
 * a person.
 */
import { describe, expect, it } from "vitest";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { readState } from "../../reconciler/core/state/text";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { StoreFailed } from "../../reconciler/store/store";
import { desiredOf } from "../support/desired-file";
import { type Capabilities, type VirtualWorld, virtualWorld } from "../support/virtual-world";

const everyList: Capabilities = { with: ["volume.list", "group.list", "group.get", "group.rule.delete"] };

const image = "image_id: 00000000-0000-4000-8003-000000000001";
const stories: Readonly<Record<string, { readonly before?: string; readonly after: string }>> = {
  "all kinds are made": {
    after: `
vms: { web: { for_each: 2, name: "web-\${each}", ${image} } }
volumes: { data: { for_each: 3, name: "data-\${each}", size: 5 } }
groups: { web: { name: web, rules: [{ protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }] } }
`,
  },
  "all kinds move to other addresses and change": {
    before: `
vms: { old: { name: web, ${image} } }
volumes: { old: { name: data, size: 5, attach_to: old } }
groups: { old: { name: web, rules: [{ protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }] } }
`,
    after: `
moved: [{ from: vm.old, to: vm.new }, { from: volume.old, to: volume.new }, { from: group.old, to: group.new }]
vms: { new: { name: web-2, ${image} } }
volumes: { new: { name: data, size: 9, attach_to: new } }
groups: { new: { name: web, rules: [{ protocol: tcp, dst_port: 80, remote_ip: 0.0.0.0/0 }] } }
`,
  },
  "all kinds are deleted": {
    before: `
vms: { web: { name: web, ${image} } }
volumes: { data: { name: data, size: 5, attach_to: web } }
groups: { web: { name: web } }
`,
    after: "volumes: { other: { name: other, size: 1 } }\n",
  },
};

interface Cut {
  /** Which write, counted from 0. */
  readonly write: number;
  /** How many of its lines are there. */
  readonly lines: number;
  /** The next line is there in part. */
  readonly part: boolean;
}

/** A world at the end of `before`, and how to carry `after` out with a write that is cut. */
async function staged({ before, after }: { readonly before?: string; readonly after: string }, can: Capabilities) {
  const stage = virtualWorld(can);
  if (before !== undefined) await stage.apply(await stage.plan(desiredOf(before)));
  await stage.clock.sleep(600_000);
  const sizes: number[] = [];
  let cut: Cut | undefined;
  let isOver = false;
  const { lock } = stage.store;
  stage.store.lock = async (holder) => {
    const session = await lock(holder);
    return {
      ...session,
      append: async (lines) => {
        if (isOver) throw new StoreFailed("no space left");
        const write = sizes.length;
        sizes.push(lines.length);
        if (cut?.write !== write) return session.append(lines);
        isOver = true;
        await session.append(lines.slice(0, cut.lines));
        const next = lines[cut.lines];
        if (cut.part && next !== undefined) stage.store.stored.journal.push(next.slice(0, next.length / 2));
        throw new StoreFailed("no space left");
      },
    };
  };
  return {
    stage,
    sizes,
    async run(at?: Cut) {
      sizes.length = 0;
      cut = at;
      isOver = false;
      const prepared = await stage.plan(desiredOf(after));
      const errors = prepared.plan.diagnostics.filter(({ severity }) => severity === "error");
      if (!hasErrors(prepared.plan.diagnostics)) await stage.apply(prepared).catch(() => undefined);
      await stage.store.breakLock();
      await stage.clock.sleep(600_000);
      return { errors, prepared };
    },
  };
}

const worldOf = ({ emulated }: VirtualWorld) => {
  const { vms, volumes, groups } = emulated.dump();
  const named = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).sort();
  return { vms: named(vms), volumes: named(volumes), groups: named(groups) };
};

describe.each([
  ["with every list", everyList],
  ["with the built-in dialect", {}],
] as const)("a service %s", (_, can) => {
  it.each(Object.entries(stories))("%s: every line of every write can be the last", async (_name, story) => {
    const calm = await staged(story, can);
    await calm.run();
    const sizes = [...calm.sizes];
    const expected = worldOf(calm.stage);
    expect(sizes.length).toBeGreaterThan(2);
    for (const [write, size] of sizes.entries())
      for (let lines = 0; lines <= size; lines++)
        for (const part of lines < size ? [false, true] : [false]) {
          const cut = { write, lines, part };
          const { stage, run } = await staged(story, can);
          const before = new Set([...(await stage.state()).resources.values()].map(({ id }) => id));
          await run(cut);
          const { resources } = await stage.state();
          const { errors } = await run();
          // Where nothing lists volumes and groups, only a person can tell whether a create was sent whose answer is
          // written down nowhere. No create is open whose id is in the state.
          const isOpen = (address = ""): boolean => {
            const id = resources.get(address)?.id;
            return can !== everyList && (id === undefined || before.has(id));
          };
          expect({ cut, errors: errors.filter(({ address }) => !isOpen(address)) }).toEqual({ cut, errors: [] });
          if (errors.length > 0) continue;
          await run();
          const { prepared } = await run();
          expect({ cut, world: worldOf(stage), done: hasNothingToDo(prepared.plan) }).toEqual({
            cut,
            world: expected,
            done: true,
          });
        }
  });
});

describe("the text of a journal", () => {
  it("that ends at any byte of a write is read as before that write, or as with a whole part of it", async () => {
    const { stage, run } = await staged(stories["all kinds move to other addresses and change"]!, everyList);
    const texts: string[] = [];
    const { lock } = stage.store;
    stage.store.lock = async (holder) => {
      const session = await lock(holder);
      return {
        ...session,
        append: async (lines) => {
          const { snapshot, journal } = stage.store.stored;
          const whole = lines.map((line) => `${line}\n`).join("");
          const shapes = new Set<string>();
          for (let at = 0; at <= whole.length; at++) {
            const read = readState(
              {
                ...(snapshot === undefined ? {} : { snapshot }),
                journal: [...journal, ...whole.slice(0, at).split("\n")],
              },
              "l",
            );
            if (!read.ok) throw new Error(`${at}: ${read.problem}`);
            expect(read.state.quarantined).toEqual([]);
            shapes.add(JSON.stringify([...read.state.resources, ...read.state.intents, ...read.state.orphans]));
          }
          texts.push(String(shapes.size));
          await session.append(lines);
        },
      };
    };
    await run();
    expect(texts.length).toBeGreaterThan(5);
  });
});
