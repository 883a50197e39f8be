/** A service where what is quick elsewhere takes a while, and says so with states of its own. */
import { idOf } from "./lists";
import { type Answer, type Asked, itemsOf, type OtherService } from "./other-service";

interface Busy {
  readonly status: string;
  /** Looks that still show it so. */
  left: number;
  /** As it is shown meanwhile. */
  readonly shown: Readonly<Record<string, unknown>>;
}

const refusal = (status: string): Answer => ({
  status: 409,
  body: { error: { code: 409, message: `Invalid volume: it must not be in state ${status}` } },
});

/**
 * Volumes that are `creating`, `attaching`, `detaching`, `extending` and `deleting` for so many looks. Meanwhile they
 * are shown as they were, and whatever else is asked of them is refused. `ready`: what one is called that is not.
 */
export function asynchronousVolumes(looks: number): OtherService {
  const busy = new Map<string, Busy>();
  let before: Record<string, unknown> = {};
  const look = (id: string): Busy | undefined => {
    const present = busy.get(id);
    if (present === undefined) return undefined;
    if (present.left-- > 0) return present;
    busy.delete(id);
    return undefined;
  };
  const concerned = (asked: Asked): string => String(asked.body["volume_id"] ?? asked.id);
  return {
    hear(asked, truth) {
      if (asked.operation === "volume.get") {
        const present = busy.get(asked.id);
        // Only what is being deleted is not there to be asked for.
        if (present?.status !== "deleting") return undefined;
        return look(asked.id) === undefined ? undefined : { status: 200, body: present.shown };
      }
      if (!asked.operation.startsWith("volume.") || asked.method === "GET") return undefined;
      const id = concerned(asked);
      const present = busy.get(id);
      if (present !== undefined) return refusal(present.status);
      before = { ...truth.dump().volumes.find((volume) => volume.id === id) };
      return undefined;
    },
    tell(asked, answer) {
      if (answer.status >= 300) return undefined;
      const enter = (id: string, status: string, shown: object): void => {
        busy.set(id, { status, left: looks, shown: { ...shown, id, status } });
      };
      switch (asked.operation) {
        case "volume.create": {
          const made = Object(answer.body) as Record<string, unknown>;
          enter(String(made["id"]), "creating", made);
          return { status: 202, body: { ...made, status: "creating" } };
        }
        case "volume.attach":
          enter(concerned(asked), "attaching", before);
          return undefined;
        case "volume.detach":
          enter(concerned(asked), "detaching", before);
          return undefined;
        case "volume.resize":
          enter(concerned(asked), "extending", before);
          return undefined;
        case "volume.delete":
          enter(concerned(asked), "deleting", before);
          return undefined;
        case "volume.get":
          return { status: 200, body: look(asked.id)?.shown ?? answer.body };
        case "volume.list": {
          const items = itemsOf(answer) ?? [];
          const shown = items.map((item) => look(idOf(item) ?? "")?.shown ?? item);
          const listed = new Set(items.map(idOf));
          for (const [id, { status }] of busy)
            if (status === "deleting" && !listed.has(id)) {
              const lingering = look(id);
              if (lingering !== undefined) shown.push(lingering.shown);
            }
          return { status: 200, body: { data: shown } };
        }
        default:
          return undefined;
      }
    },
  };
}

/** A VM that was deleted is still shown for so many looks, as on its way out. */
export function lingeringVms(looks: number, status: string): OtherService {
  const leaving = new Map<string, { left: number; readonly record: object }>();
  let record: object = {};
  return {
    hear(asked, truth) {
      if (asked.operation === "vm.delete") record = { ...truth.dump().vms.find(({ id }) => id === asked.id) };
      const present = leaving.get(asked.id);
      if (present === undefined) return undefined;
      if (asked.operation === "vm.get" && present.left-- > 0) return { status: 200, body: present.record };
      if (asked.method === "GET") return undefined;
      return { status: 409, body: { error: { code: 409, message: `invalid state transition: the VM is ${status}` } } };
    },
    tell(asked, answer) {
      if (asked.operation === "vm.delete" && answer.status < 300)
        leaving.set(asked.id, { left: looks, record: { ...record, status, volumes: [] } });
      const items = asked.operation === "vm.list" ? itemsOf(answer) : undefined;
      if (items === undefined) return undefined;
      const shown = [...leaving.values()].filter((present) => present.left-- > 0).map((present) => present.record);
      return { status: 200, body: { data: [...items, ...shown] } };
    },
  };
}

/** It says that it takes snapshots, and their images never come up. */
export const noSnapshots: OtherService = {
  hear: (asked) =>
    asked.operation === "vm.snapshot"
      ? { status: 200, body: { image_id: `00000000-0000-4000-8abc-${String(asked.nth).padStart(12, "0")}` } }
      : undefined,
};

/** The image of a snapshot is listed only after so many looks. */
export function lateSnapshots(looks: number): OtherService {
  const waits = new Map<string, number>();
  return {
    tell(asked, answer, truth) {
      const items = asked.operation === "image.list" ? itemsOf(answer) : undefined;
      if (items === undefined) return undefined;
      const own = new Set(truth.dump().images.flatMap(({ id, project_id }) => (project_id === null ? [] : [id])));
      const shown = items.filter((item) => {
        const id = idOf(item) ?? "";
        if (!own.has(id)) return true;
        const left = waits.get(id) ?? looks;
        waits.set(id, left - 1);
        return left <= 0;
      });
      return { status: 200, body: { data: shown } };
    },
  };
}
