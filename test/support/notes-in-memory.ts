/** A program's notes in memory, for processes that are played in one: what `outside/program-notes.ts` keeps in files. */
import {
  type Claim,
  type ForeignCreate,
  NotedMeanwhile,
  type OpenCreate,
  type OpenDelete,
  type ProgramNotes,
} from "../../reconciler/one/program-notes";
import type { Clock } from "../../reconciler/service/clock";
import { isProcessGone } from "../../reconciler/store/process-gone";

interface Writer {
  readonly name: string;
  readonly pid: number;
}

interface Note extends OpenCreate {
  readonly by: Writer;
  readonly urn: string;
  /** Of the type and the name of what is made. */
  readonly named: string | undefined;
}

export function createNotebook({ sleep }: Pick<Clock, "sleep">) {
  const creates = new Map<string, Note>();
  const made = new Map<string, string>();
  const leaving = new Map<string, OpenDelete>();
  const stopped = new Map<string, string>();
  const owners = new Map<string, Claim>();

  function notesOf(urn: string, writer: Writer): ProgramNotes {
    let looked: Note | undefined;
    let isWritten = false;
    const nameOf = (name: string): string => `${urn.split("::")[2]} ${name}`;
    const isAbout = (note: Note | undefined, thing: string): boolean =>
      note?.id !== undefined && thing.endsWith(`:${note.id}`);
    const forgetMade = (thing: string): void => {
      const of = made.get(thing);
      if (of !== undefined && isAbout(creates.get(of), thing)) creates.delete(of);
      made.delete(thing);
    };
    const foreign = (name: string): (Note & ForeignCreate) | undefined => {
      const found = [...creates.values()].find(
        (note) =>
          note.urn !== urn && note.named === nameOf(name) && note.by.name !== writer.name && isProcessGone(note.by.pid),
      );
      return found === undefined ? undefined : ({ ...found, by: found.urn } as unknown as Note & ForeignCreate);
    };
    return {
      async find(signal) {
        for (;;) {
          looked = creates.get(urn);
          if (looked === undefined || looked.by.name === writer.name) return undefined;
          const isAtWork = looked.id === undefined && looked.by.pid !== writer.pid && !isProcessGone(looked.by.pid);
          if (!isAtWork || signal.aborted) return looked;
          await sleep(200, signal);
        }
      },
      async write(open, { name, thing } = {}) {
        const there = creates.get(urn);
        if (!isWritten && there !== looked && there?.by.name !== writer.name) throw new NotedMeanwhile();
        if (thing !== undefined) made.set(thing, urn);
        creates.set(urn, { ...open, by: writer, urn, named: name === undefined ? undefined : nameOf(name) });
        isWritten = true;
        leaving.delete(urn);
      },
      findForeign: (name) => foreign(name),
      settleForeign(name) {
        const found = foreign(name);
        if (found !== undefined) creates.delete(found.urn);
      },
      async takeBackNone() {
        const { saidNone: _saidNone, ...note } = creates.get(urn) ?? {};
        if ("by" in note) creates.set(urn, note as Note);
      },
      settled() {
        const note = creates.get(urn);
        if (note?.by.name === writer.name || note === looked) creates.delete(urn);
      },
      async isInState(thing, sentAt) {
        forgetMade(thing);
        const note = creates.get(urn);
        if (note === undefined) return;
        const isOfThis = note.id === undefined ? note.sentAt === sentAt : isAbout(note, thing);
        if (isOfThis) creates.delete(urn);
        else if (note.id !== undefined) creates.set(urn, { ...note, hasFormer: true });
      },
      async formerGoes() {
        const { hasFormer, ...note } = creates.get(urn) ?? {};
        if (hasFormer === true && "by" in note && note.by.name === writer.name) creates.set(urn, note as Note);
      },
      isGone: forgetMade,
      writeLeaving: async (open) => void leaving.set(urn, open),
      findLeft(id) {
        const open = leaving.get(urn);
        return open?.id === id ? open.disks : undefined;
      },
      forgetLeaving: () => void leaving.delete(urn),
      writeStopped: async (vm) => void stopped.set(urn, vm),
      findStopped: () => stopped.get(urn),
      forgetStopped: () => void stopped.delete(urn),
      staysAlive: () => false,
      claimOf: (thing) => owners.get(thing),
      claim: async (thing, owner, by = urn) => void owners.set(thing, { owner, by }),
      unclaim: (thing) => void owners.delete(thing),
      claimAt: (thing) => `owners/${thing}`,
    };
  }
  return {
    notesOf,
    /** As the files would be named. */
    names: (part: "creates" | "owners"): string[] =>
      part === "owners"
        ? [...owners.keys()]
        : [
            ...creates.keys(),
            ...[...made.keys()].map((thing) => `made-${thing}`),
            ...[...leaving.keys()].map((of) => `${of}.left`),
            ...[...stopped.keys()].map((of) => `${of}.stopped`),
          ],
  };
}
