/**
 * The first create of a kind shows whether the answers to such creates can be read by the dialect. The others of a run
 * wait until it is answered: where nobody can tell what the first one made, none of them is sent, and only one thing is
 * left to be looked for by hand.
 */
import { definitionOf, type Kind } from "../core/model/kinds";
import { invariant } from "../core/text/invariant";

export interface FirstCreate {
  /** Why no other of its kind is sent. */
  readonly unread?: Unread;
  /** Lets the others go on, or keeps them from being sent. Only the first call counts. */
  leave(unread?: Unread): void;
}

/** An answer that was an acceptance and could not be read. */
export interface Unread {
  readonly name: string;
  readonly reason: string;
  /** The line of the dialect that would make it readable. */
  readonly line?: string;
}

/** The first one is let through at once. */
export type FirstCreates = (kind: Kind) => FirstCreate | Promise<FirstCreate>;

export function createFirstCreates(): FirstCreates {
  const answered = new Map<Kind, Promise<Unread | undefined>>();
  return (kind) => {
    // The answer to its create shows no id: there is nothing to read.
    if (definitionOf(kind).createTellsNoId === true) return { leave: () => undefined };
    const first = answered.get(kind);
    if (first !== undefined) return first.then((unread) => ({ unread, leave: () => undefined }));
    let leave: ((unread?: Unread) => void) | undefined;
    answered.set(
      kind,
      new Promise((resolve) => {
        leave = resolve;
      }),
    );
    invariant(leave !== undefined, "a promise runs what it is made with at once");
    return { leave };
  };
}
