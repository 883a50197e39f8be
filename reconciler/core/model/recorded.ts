/**
 * What the state remembers. A record holds what was last made true in the service, and whatever must survive the
 * removal of the block that declared it (prevent_destroy, what to do on delete, how to flush). A field is absent when
 * it was never known, for example after an import.
 */

import { onlyDefined } from "../text/objects";
import type { Address } from "./address";
import type { UnseenWrite } from "./effect";
import type { groupFields, RecordedFields, vmFields, volumeFields } from "./fields";
import type { Debt } from "./guest";
import { type Kind, kinds } from "./kinds";
import type { Outputs } from "./output";
import type { Rule } from "./rule";

/** A volume that was seen on a VM. */
export interface Disk {
  readonly id: string;
  readonly name?: string;
  readonly sizeGb?: number;
  /** No record tells whether this disk is the root disk, which goes with its VM. */
  readonly maybeRoot?: true;
}

/** What every record remembers. */
interface RecordedAny {
  readonly address: Address;
  readonly preventDestroy: boolean;
  /** Writes that the service accepted and of which no look has shown the effect. */
  readonly unseen?: readonly UnseenWrite[];
  /**
   * A delete of this resource was sent, with the consent that a delete needs: that the resource is gone then is no
   * surprise.
   */
  readonly deleting?: boolean;
  /**
   * A field that `ignore_changes` leaves to others once it was set: the create cannot set it, and the step that does has
   * not ended yet.
   */
  readonly stillToSet?: string;
}

export interface RecordedVm extends RecordedAny, RecordedFields<typeof vmFields> {
  readonly kind: "vm";
  /** Absent while the service has not told it: the VM was created, and nothing shows it yet. */
  readonly id?: string;
  /** The one id the image name meant when it was applied. */
  readonly imageId?: string;
  readonly onDelete: {
    readonly snapshot: boolean;
    readonly deleteFloatingIp?: boolean;
    readonly preservedVolumes: "retain" | "delete";
  };
  /** The data volume created with it, once the service's records have shown it. */
  readonly dataVolumeId?: string;
  /**
   * Other volumes that were seen on the VM and have no address: each may be its data volume, and a delete leaves them
   * behind.
   */
  readonly disks?: readonly Disk[];
  /** The VM's IP addresses, as the service's records showed them last. */
  readonly privateIp?: string;
  readonly floatingIp?: string;
  /** ISO time at which the VM was first seen: a list may not show it for a while. */
  readonly createdAt?: string;
  /** Set from the create until the VM has settled once: if it fails before that, nothing was ever in use on it. */
  readonly building?: boolean;
  /** A resize that was sent and is not decided yet. */
  readonly resizing?: { readonly from?: string; readonly to: string };
  /** A run stopped the VM so that volumes could come off, and has not started it again yet. */
  readonly stoppedForFlush?: boolean;
  /** The data volume was taken off to be grown, and is not back on its VM yet. */
  readonly dataVolumeDetached?: boolean;
  /** The attach or detach of the data volume that was sent and has no answer yet. */
  readonly dataVolumeMoving?: "attaching" | "detaching";
  /** Commands that are owed to the guest. */
  readonly owes?: readonly Debt[];
}

export interface RecordedVolume extends RecordedAny, RecordedFields<typeof volumeFields> {
  readonly kind: "volume";
  readonly id: string;
  /** The VM to which this tool attached the volume. */
  readonly attachedTo?: string;
  /** The VM of an attach that was sent and has no answer yet. */
  readonly attaching?: string;
  /** The VM of a detach that was sent and has no answer yet. */
  readonly detaching?: string;
  /** The VM that it was taken off to be grown and is not back on yet, where the file does not say where it hangs. */
  readonly goesBackTo?: string;
  /**
   * A VM that no record managed: a run stopped it so that this volume could come off, and has not started it again yet.
   */
  readonly stoppedVm?: string;
  /** Commands that are owed to the guest. */
  readonly owes?: readonly Debt[];
}

export interface RetiredGroup {
  readonly id: string;
  readonly name: string;
}

/** The rules as they were applied, with groups named by id. */
export interface RecordedGroup extends RecordedAny, RecordedFields<typeof groupFields> {
  readonly kind: "group";
  readonly id: string;
  /** Keys of the rules the service made by itself. */
  readonly platformRules: readonly string[];
  /** Rules that the file does not declare and leaves where they are, as the last run saw them. */
  readonly left?: readonly Rule[];
  /** The name and description of an update whose answer was lost, where nobody can look whether it took effect. */
  readonly updating?: { readonly name?: string; readonly description?: string };
  /** Old groups that a replacement left, still attached to VMs. */
  readonly retired?: readonly RetiredGroup[];
  /** The ids of old groups that a replacement deleted, the latest last: a rule that still names one admits nobody. */
  readonly buried?: readonly string[];
}

export interface RecordedByKind {
  readonly vm: RecordedVm;
  readonly volume: RecordedVolume;
  readonly group: RecordedGroup;
}

export type RecordedResource = RecordedByKind[Kind];

/** A request that cannot be repeated: written down before it is sent, and removed by its outcome. */
export interface Intent {
  /** The step that sends it. */
  readonly step: string;
  readonly address: Address;
  readonly operation: `${Kind}.create` | "vm.snapshot";
  readonly name: string;
  /** ISO time at which it was about to be sent. */
  readonly sentAt: string;
  /** The ids that bore the name before the create was sent: none of them can be what the create made. */
  readonly idsBefore: readonly string[];
  /** The record to keep once the created resource is found, but for its id. */
  readonly record?: RecordToMake;
  /** The answer was lost, and looking did not tell whether the request took effect. */
  readonly unknown?: boolean;
  /** The service answered 2xx: the request took effect or will. It is never sent again by itself. */
  readonly accepted?: true;
  /** The image that the answer to a snapshot named. */
  readonly image?: string;
}

/** The record of what a create is to make, which has no id yet. */
export type RecordToMake<K extends Kind = Kind> = { readonly [Each in K]: Omit<RecordedByKind[Each], "id"> }[K];

/** A person asked for this snapshot, and no change of the plan. */
export const isAskedSnapshot = ({ operation, step }: Intent): boolean =>
  operation === "vm.snapshot" && step.endsWith("/snapshot");

/** The same open create, under the address that its resource has by now. */
export const movedIntent = (intent: Intent, address: Address): Intent => ({
  ...intent,
  address,
  ...onlyDefined({ record: intent.record === undefined ? undefined : { ...intent.record, address } }),
});

/** What can be left behind: a resource, or the image of a snapshot. */
export const orphanKinds = [...kinds, "image"] as const;

/** Something that exists in the service, or existed when it was last seen, and that no record manages any more. */
export interface Orphan {
  readonly kind: (typeof orphanKinds)[number];
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  readonly sizeGb?: number;
  /**
   * ISO time at which the service was first proven not to have the orphan any more. A missing orphan is kept all the
   * same.
   */
  readonly missingSince?: string;
  /**
   * For a missing resource: the record that managed it, which is taken back when the service shows the resource again.
   */
  readonly record?: RecordedResource;
  /** The address whose new volume takes its place: its delete is still to come. */
  readonly replacedBy?: Address;
  /** A delete was sent: of this orphan, or of the VM whose root disk it may be. */
  readonly deleting?: boolean;
}

/** The address whose record the orphan was, or whose new volume takes its place. */
export const addressOfOrphan = ({ record, replacedBy }: Orphan): Address | undefined => record?.address ?? replacedBy;

/** The same orphan, of the address that its resource has by now. */
export const movedOrphan = (orphan: Orphan, address: Address): Orphan => ({
  ...orphan,
  ...onlyDefined({
    record: orphan.record === undefined ? undefined : { ...orphan.record, address },
    replacedBy: orphan.replacedBy === undefined ? undefined : address,
  }),
});

/**
 * Which service, project, environment and credential the records were made against. An absence in another service
 * proves nothing.
 */
export interface Scope {
  /** The base URL without credentials and query; `embedded` for the service inside this program. */
  readonly origin: string;
  /** The file's top-level project; absent where no file has named one. */
  readonly project?: string;
  /** The environment that was chosen; absent where the files declare none. */
  readonly environment?: string;
  /**
   * What the service showed to the credential beside the recorded resources, as `group:ID`: when one of them is seen
   * again, the credential still sees the same project.
   */
  readonly sees?: readonly string[];
  /** A mark of whom the credential spoke for, where the credential says it; the same for every credential of theirs. */
  readonly subject?: string;
}

/** When things were last seen in the service; written by runs that plan from memory, and by every run after that. */
export interface LastSeen {
  /** ISO time at which everything that was recorded then was seen. */
  readonly all?: string;
  /** ISO times of later looks, by address. */
  readonly each?: Readonly<Record<Address, string>>;
}

/** Who started a run, from where. */
export interface RunBy {
  readonly who: string;
  readonly host: string;
  /** The first words of the command line: the rest may hold secrets. */
  readonly command: string;
  /** The commit at which the files were checked out. */
  readonly commit?: string;
}

export interface RunStart {
  /** The id of the plan that the run carried out. */
  readonly id: string;
  /** Grows like the serial: a run that began later has a greater number. */
  readonly number: number;
  readonly at: string;
  readonly by?: RunBy;
  /** What was permitted, such as `data_loss vm.db`. */
  readonly consents?: readonly string[];
  /** It was to bring about a part of what is declared (--target, --exclude, an undo), or nothing of it: destroy. */
  readonly part?: true;
  /** How many resources each action changes. */
  readonly changes?: Readonly<Record<string, number>>;
  /** The changes that are not done yet, by address, each with a fingerprint of the declaration. */
  readonly open: Readonly<Record<Address, string>>;
}

export interface RunEnd {
  readonly endedAt: string;
  readonly outcome: "done" | "failed" | "waiting" | "interrupted";
  readonly steps: {
    readonly done: number;
    readonly failed: number;
    readonly skipped: number;
    readonly waiting: number;
  };
  readonly open: Readonly<Record<Address, string>>;
  /** In words: what was accepted and not seen. */
  readonly unseen?: readonly string[];
}

/** What became of a resource: a create made it, a delete was sent and it went, or it was there and was taken over. */
export type Deed = "made" | "deleted" | "took";

/** What a state held when a run began. */
export interface Before {
  readonly records: ReadonlyMap<Address, RecordedResource>;
  /** What became of resources since, by their identity: the latest of each. */
  readonly did: ReadonlyMap<string, Deed>;
}

/** One run, as the state remembers it. A run without an outcome still runs, or was killed. */
export interface RecordedRun extends RunStart, Partial<Omit<RunEnd, "open">> {
  /** It wrote another state, from which records came here with what was before it. */
  readonly brought?: true;
  /**
   * The records that changed since, as they were when it began (`null`: there was none). Absent for a run that is too
   * long ago. The one that owns the state adds to it.
   */
  readonly before?: Record<Address, RecordedResource | null>;
  /** What became of resources since, by `kind:id`. Kept as long as `before`, and added to by the same owner. */
  readonly did?: Record<string, Deed>;
}

/**
 * A move of records between two states that is under way. Its note stands in both while both may have the records, and
 * nothing is planned or written on either until it is finished.
 */
export interface Transfer {
  /**
   * `giving`: the other state is about to take the records, or has them too. `gave`: the records are gone from here.
   * `taking`: the records are here, and perhaps in the other state still.
   */
  readonly side: "giving" | "gave" | "taking";
  /** Where the other state lies, as seen from this one, without a credential. */
  readonly other: string;
  /** ISO time. */
  readonly at: string;
  readonly by: string;
  /** The addresses in the giving state, and what each is in the taking one. */
  readonly addresses: Readonly<Record<Address, Address>>;
  /** The keys of the orphans that go along. */
  readonly orphans?: readonly string[];
  /** All outputs of the giving state once the records are gone. Absent: they stay as they are. */
  readonly outputs?: Outputs;
  /** The folder in which the edits of the files are written down. Absent: no file is part of the move. */
  readonly files?: string;
}

/** A piece of the state that could not be read. It is kept as it was found, and its address is not touched. */
export interface Quarantined {
  readonly address: string;
  readonly text: string;
  readonly problem: string;
}

export interface State {
  readonly lineage: string;
  /** Counts entries ever written: two states of one lineage with one serial are equal. */
  readonly serial: number;
  readonly resources: ReadonlyMap<Address, RecordedResource>;
  /** By address: one resource has one create under way at the most. */
  readonly intents: ReadonlyMap<Address, Intent>;
  /** By kind and id. */
  readonly orphans: ReadonlyMap<string, Orphan>;
  readonly quarantined: readonly Quarantined[];
  /** Absent in a state that an older version wrote: the next run that writes remembers it. */
  readonly scope?: Scope;
  /** The last runs, oldest first; absent where none is remembered. */
  readonly runs?: readonly RecordedRun[];
  /** The outputs at the end of the last run. Absent: the project has none. */
  readonly outputs?: Outputs;
  /** Absent until a run plans from memory. */
  readonly seen?: LastSeen;
  /** By the id of the move. Absent: none is under way. */
  readonly moves?: Readonly<Record<string, Transfer>>;
}

/** Of the record, or of the create that is open there. */
export const stillToSetAt = (
  address: Address,
  { resources, intents }: Pick<State, "resources" | "intents">,
): string | undefined => resources.get(address)?.stillToSet ?? intents.get(address)?.record?.stillToSet;

/** One thing that became true. The state is the fold of its entries. */
export type StateChange =
  | { readonly type: "resource"; readonly address: Address; readonly record: RecordedResource | null }
  | { readonly type: "intent"; readonly address: Address; readonly intent: Intent | null }
  | { readonly type: "orphan"; readonly key: string; readonly orphan: Orphan | null }
  /** `run`: absent in what an older version wrote. */
  | { readonly type: "run"; readonly plan: string; readonly at: string; readonly run?: RunStart }
  | { readonly type: "run_end"; readonly end: RunEnd }
  | { readonly type: "scope"; readonly scope: Scope }
  /** All outputs. */
  | { readonly type: "outputs"; readonly outputs: Outputs }
  /** Without addresses: every recorded resource was seen. */
  | { readonly type: "seen"; readonly at: string; readonly addresses?: readonly Address[] }
  | { readonly type: "transfer"; readonly id: string; readonly transfer: Transfer | null }
  /** All runs, where a move brings runs of another state along. */
  | { readonly type: "runs"; readonly runs: readonly RecordedRun[] }
  | { readonly type: "release"; readonly address: string };

/**
 * A change of the state that a plan makes without a request. The clock of the run that records it says since when
 * something is missing.
 */
export type PlannedChange = StateChange | { readonly type: "missing"; readonly orphan: Omit<Orphan, "missingSince"> };

export const recordedAt = (changes: readonly PlannedChange[], at: string): StateChange[] =>
  changes.map((change) =>
    change.type === "missing"
      ? { type: "orphan", key: orphanKey(change.orphan), orphan: { ...change.orphan, missingSince: at } }
      : change,
  );

export const orphanKey = (orphan: { readonly kind: string; readonly id: string }): string =>
  `${orphan.kind}:${orphan.id}`;
