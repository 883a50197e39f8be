/** Properties that several kinds have, described once. */
import type { RecordedVm } from "../core/model/recorded";
import type { Property, Props } from "./handler";
import { asFileKey, asFileValue, type Line } from "./one-desired";

export const adopt: Property = {
  type: "string",
  behaviour: true,
  description:
    'The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing.',
};

/** The id of what is to be taken over. */
export const adoptedId = ({ adopt: id }: Props): string | undefined =>
  typeof id === "string" && id !== nothing ? id : undefined;

export const adoptsNothing = ({ adopt: id }: Props): boolean => id === nothing;

const nothing = "none";

/** It says nothing any more of the resource that has this id by now. */
export const isDoneWith = ({ adopt: said }: Props, id: string): boolean =>
  said === undefined || said === nothing || said === id;

/** What a program of this machine sees beside the usual. */
export const variables: Property = {
  type: "array",
  items: { type: "string", description: "A variable's name." },
  description: "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values.",
};

export const flush: Property = {
  type: "object",
  behaviour: true,
  description:
    "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile).",
  properties: {
    via: { type: "string", values: ["ask", "command", "stop"], description: "ask, command or stop." },
    command: {
      type: "array",
      items: { type: "string", description: "The program, or an argument." },
      description: "The program and its arguments, for via: command. It runs on the machine that runs the program.",
    },
    env: variables,
  },
};

/** A command that is owed to the guest until it ended with 0. */
export const owedCommand = (description: string): Property => ({
  type: "object",
  behaviour: true,
  description,
  properties: {
    command: {
      type: "array",
      required: true,
      items: { type: "string", description: "The program, or an argument." },
      description: "The program and its arguments. It runs on the machine that runs the program, and may run twice.",
    },
    timeout: { type: "string", description: "How long it may take, such as 5m; then it is ended and stays owed." },
    env: variables,
    again: {
      type: "string",
      values: ["when_changed"],
      description: "when_changed: another command text makes it owed again.",
    },
  },
});

export const flushConfirmed: Property = {
  type: "boolean",
  behaviour: true,
  description:
    "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches.",
};

/** Properties as fields of the file, for those whose name is the same there. */
export const linesFor = (inputs: Props, names: readonly string[], section?: Line["section"]): Line[] =>
  names.map((property) => ({ property, field: asFileKey(property), value: asFileValue(inputs[property]), section }));

/**
 * The VM of a volume is in the state beside the volume, so that it is looked at (a flush may stop it) and never planned
 * for.
 */
export const hostOf = (vmId: string): RecordedVm => ({
  kind: "vm",
  address: "vm.host",
  id: vmId,
  name: vmId,
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
});
