/**
 * The guests of a bench world: what commands were run on them, and at which point of what the service was sent. From
 * that follows whether each command has ended with 0 since its attach, create or rebuild, and whether one ran before.
 */
import type { RunningEmulator } from "../../emulator";
import type { Ports } from "../../reconciler/engine/ports";

export interface Ran {
  readonly address: string;
  readonly duty: string;
  readonly reason: string;
  readonly vm: string;
  readonly volume: string | undefined;
  /** How many requests the service had answered. */
  readonly after: number;
  readonly ended: number;
}

export interface Guests {
  readonly runCommand: Ports["runCommand"];
  /** The world in which commands run from now on. */
  enter(emulator: RunningEmulator): void;
  readonly ran: readonly Ran[];
  /** Commands that ran where they could not have worked, in words. */
  readonly early: readonly string[];
  /** `address duty` of commands that have not ended with 0 since they became necessary. */
  unpaid(expected: readonly Expected[]): string[];
}

/** A command that the world has to have seen. */
export interface Expected {
  readonly address: string;
  readonly duty: "after_ready" | "after_attach";
}

/** `fails`: whether this run of a command fails. */
export function createGuests(fails: (run: Omit<Ran, "ended">) => boolean = () => false): Guests {
  let world: RunningEmulator | undefined;
  let ran: Ran[] = [];
  let early: string[] = [];
  const answered = () => world?.requests().log ?? [];
  return {
    enter(emulator) {
      world = emulator;
      ran = [];
      early = [];
    },
    get ran() {
      return ran;
    },
    get early() {
      return early;
    },
    async runCommand(_, { address = "", duty, values = {} } = {}) {
      if (duty === undefined || world === undefined) return { exitCode: 0, output: "" };
      const run = {
        ...{ address, duty, reason: values["RECONCILE_REASON"] ?? "", vm: values["RECONCILE_VM_ID"] ?? "" },
        volume: values["RECONCILE_VOLUME_ID"],
        after: answered().length,
      };
      const { vms, volumes } = world.dump();
      const vm = vms.find(({ id }) => id === run.vm);
      if (vm?.status !== "ACTIVE") early.push(`${duty} of ${address}: VM ${run.vm} is ${vm?.status ?? "not there"}`);
      const volume = volumes.find(({ id }) => id === run.volume);
      if (duty === "after_attach" && volume?.attached_to !== run.vm)
        early.push(`${duty} of ${address}: ${run.volume} hangs on ${volume?.attached_to ?? "nothing"}, not ${run.vm}`);
      const ended = fails(run) ? 1 : 0;
      ran.push({ ...run, ended });
      return { exitCode: ended, output: ended === 0 ? "" : "no" };
    },
    unpaid(expected) {
      const log = answered();
      /** The last request that makes the command necessary, as its place in the log. */
      const lastOf = ({ duty }: Expected, { vm, volume }: Ran): number =>
        log.findLastIndex(({ operation, path, status }) => {
          const isOf = (id: string | undefined): boolean => id !== undefined && path.includes(id);
          if (status === undefined || status >= 300) return false;
          if (operation === "vm.rebuild") return isOf(vm);
          return duty === "after_attach" && operation === "volume.attach" && isOf(volume);
        });
      return expected.flatMap((one) => {
        const its = ran.filter(({ address, duty }) => address === one.address && duty === one.duty);
        const good = its.findLast(({ ended }) => ended === 0);
        if (good === undefined) return [`${one.duty} of ${one.address} never ended with 0`];
        const { vms = [] } = world?.dump() ?? {};
        if (!vms.some(({ id }) => id === good.vm)) return [`${one.duty} of ${one.address} has not run on its new VM`];
        return good.after > lastOf(one, good)
          ? []
          : [`${one.duty} of ${one.address} has not run since its last attach`];
      });
    },
  };
}
