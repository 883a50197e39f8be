/**
 * What a trial made, written down before each request that makes something, so that it can be taken away again whatever
 * happens to the process. A thing is known by its id, or by a name that nothing had before.
 */
import { randomBytes } from "node:crypto";
import type { Kind } from "../../../core/model/address";

export interface TrialThing {
  readonly kind: Kind;
  /** As it was asked for; `undefined` for a volume that came with the VM. */
  readonly name?: string;
  readonly id?: string;
  /** When the create was sent, in milliseconds. */
  readonly askedAt: number;
  /** The service accepted the create. */
  readonly isTaken?: true;
  /** Its delete was about to be sent. */
  readonly isDeleteAsked?: true;
}

export interface TrialNotes {
  readonly version: 1;
  /** The service in which the trial made it: nothing is deleted from another one. */
  readonly service: string;
  readonly made: readonly TrialThing[];
}

/** One thing that a trial asked for, and what became of it. */
export interface TrialFate extends Pick<TrialThing, "kind" | "name" | "id"> {
  readonly became: string;
}

/** Where the notes are kept: each write is durable when it returns. */
export interface Notebook {
  /** The service as the user names it: the embedded one answers at another address each time. */
  readonly service: string;
  read(): TrialNotes | undefined;
  write(notes: TrialNotes): void;
  remove(): void;
}

/** Of letters, digits and hyphens, short and beginning with a letter: few services refuse it. */
export const trialName = (): string => `trial-${randomBytes(3).toString("hex")}`;

/** Whether it is this name, which a service may write in capitals, with other signs, or behind a part of its own. */
export const isCalled = (text: string, name: string): boolean =>
  new RegExp(`^(\\S*[^a-z0-9])?${loosely(name)}$`, "i").test(text);

export const speaksOf = (text: string, name: string): boolean =>
  new RegExp(`(?<![a-z0-9])${loosely(name)}(?![a-z0-9])`, "i").test(text);

const loosely = (name: string): string => name.replaceAll("-", "[^a-z0-9]?");

export class Notes {
  #made: readonly TrialThing[];
  #fates: readonly { readonly thing: TrialThing; readonly became: string }[];
  readonly #earlier: readonly TrialThing[];

  constructor(private readonly notebook: Notebook) {
    this.#earlier = notebook.read()?.made ?? [];
    this.#made = this.#earlier;
    this.#fates = this.#made.map((thing) => ({ thing, became: "is there still" }));
  }

  /** Everything that was asked for, in its order. */
  get fates(): readonly TrialFate[] {
    return this.#fates.map(({ thing: { kind, name, id }, became }) => ({ kind, name, id, became }));
  }

  get made(): readonly TrialThing[] {
    return this.#made;
  }

  /** An earlier trial was about to delete it, and was cut off before it wrote down what became of it. */
  wasToGo(kind: Kind, id: string): boolean {
    return this.#earlier.some((one) => one.kind === kind && one.id === id && one.isDeleteAsked === true);
  }

  add(thing: TrialThing): void {
    this.#fates = [...this.#fates, { thing, became: "is there still" }];
    this.#write([...this.#made, thing]);
  }

  /** What is known of a resource by now. */
  note(thing: TrialThing, more: Partial<TrialThing>): TrialThing {
    const known = { ...thing, ...more };
    this.#become(thing, known, "is there still");
    this.#write(this.#made.map((one) => (one === thing ? known : one)));
    return known;
  }

  /** Nothing is left to take away of it. */
  drop(thing: TrialThing, became: string): void {
    this.#become(thing, thing, became);
    this.#write(this.#made.filter((one) => one !== thing));
  }

  #become(before: TrialThing, thing: TrialThing, became: string): void {
    this.#fates = this.#fates.map((one) => (one.thing === before ? { thing, became } : one));
  }

  #write(made: readonly TrialThing[]): void {
    this.#made = made;
    if (made.length === 0) this.notebook.remove();
    else this.notebook.write({ version: 1, service: this.notebook.service, made });
  }
}
