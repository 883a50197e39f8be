/** The engine's client straight onto an emulated world: same answers, same reading of them, no HTTP and no waiting. */

import type { Decision } from "../../emulator/decision";
import { abilitiesOf } from "../core/model/abilities";
import { type ListOperation, type Operation, operations } from "../core/model/operation";
import { accepted, type Outcome } from "../core/model/outcome";
import { builtInDialect } from "../dialect/built-in";
import { judgeAnswer } from "../dialect/conditions";
import { createRecordReaders, payloadOf, type Reading, readAll, readRule, readRules } from "../dialect/records";
import { readDeletedVm } from "../dialect/reports";
import type { RequestOptions, ServiceClient } from "../service/client";
import { createVmBody, isRejection, ruleBody } from "../service/request-bodies";

/** A world that takes calls: one is one decision. */
export interface WorldCalls {
  nowMs: number;
  call(
    operation: Operation,
    body?: unknown,
    options?: { readonly id?: string; readonly ruleId?: string; readonly query?: string },
  ): Decision;
}

export interface SentRequest {
  readonly operation: Operation;
  readonly status: number;
  readonly id?: string;
  readonly body?: unknown;
  readonly message?: string;
}

export type Fate = "arrives" | "lost-before" | "lost-after";

export interface InProcessClient extends ServiceClient {
  readonly sent: SentRequest[];
  /** What becomes of the requests that change something, one after the other; all that follow arrive. */
  fates: readonly Fate[];
}

/** What is served is the caller's to say; how an answer is read is the built-in dialect's, with every list it knows. */
const listed = (name: ListOperation) => ({ method: "GET" as const, path: `/${name}`, items: operations[name].items });
const dialect = {
  ...builtInDialect,
  operations: {
    ...builtInDialect.operations,
    "volume.list": listed("volume.list"),
    "group.list": listed("group.list"),
  },
};
const read = createRecordReaders(dialect);

export function inProcessClient(
  emulated: WorldCalls,
  has: (operation: Operation) => boolean,
  holdUntil: (ms: number) => Promise<void>,
): InProcessClient {
  const sent: SentRequest[] = [];
  let fates: Fate[] = [];

  async function call<T>(
    operation: Operation,
    request: { readonly id?: string; readonly ruleId?: string; readonly body?: unknown; readonly query?: string },
    reader: (body: unknown) => Reading<T>,
  ): Promise<Outcome<T>> {
    if (!has(operation)) return { status: "rejected", condition: "unsupported", message: `no ${operation}` };
    // What JSON leaves out is not sent.
    const body = request.body === undefined ? undefined : JSON.parse(JSON.stringify(request.body));
    const fate = /list|get$/.test(operation) ? "arrives" : (fates.shift() ?? "arrives");
    if (fate === "lost-before") return { status: "unknown", reason: "connection lost" };
    const decision = emulated.call(operation, body, request);
    if (decision.holdUntil !== undefined) await holdUntil(decision.holdUntil);
    if (fate === "lost-after") return { status: "unknown", reason: "connection lost" };
    const outcome = judgeAnswer(
      operation,
      { status: decision.status, text: JSON.stringify(decision.body) ?? "" },
      { errors: dialect.errors, nowMs: emulated.nowMs, scrub: (text) => text },
    );
    sent.push({
      operation,
      status: decision.status,
      ...(request.id === undefined ? {} : { id: request.id }),
      body,
      ...(outcome.status === "rejected" ? { message: outcome.message } : {}),
    });
    return outcome.status === "accepted" ? reader(outcome.value) : outcome;
  }
  const tell = (operation: Operation, request: Parameters<typeof call>[1]) =>
    call<void>(operation, request, () => accepted(undefined));
  const list = async <T extends { readonly id: string }>(
    operation: Parameters<typeof read.items>[0],
    readRecord: (record: unknown) => Reading<T>,
  ): Promise<Outcome<readonly T[]>> => {
    const all: T[] = [];
    for (let page: string | undefined = ""; page !== undefined; ) {
      let next: string | undefined;
      const outcome: Outcome<readonly T[]> = await call(operation, { query: page }, (body) => {
        next = read.nextPage(operation, body);
        const items = read.items(operation, payloadOf(body));
        return items.status === "accepted" ? readAll(items.value, readRecord) : items;
      });
      if (outcome.status !== "accepted") return outcome;
      all.push(...outcome.value);
      page = next === undefined ? undefined : next.includes("?") ? next.slice(next.indexOf("?") + 1) : `page=${next}`;
    }
    return accepted(all);
  };
  type O = RequestOptions | undefined;
  return {
    origin: "embedded",
    sent,
    get fates() {
      return fates;
    },
    set fates(next) {
      fates = [...next];
    },
    get can() {
      return abilitiesOf(has);
    },
    takesPortRanges: dialect.rules.port_range !== null,
    close: async () => undefined,
    listVms: () => list("vm.list", read.vm),
    getVm: (id) => call("vm.get", { id }, (body) => read.vm(payloadOf(body))),
    createVm: (input, _: O) => tell("vm.create", { body: createVmBody(input) }),
    renameVm: (id, name) => tell("vm.rename", { id, body: { name } }),
    rebuildVm: (id, image) => tell("vm.rebuild", { id, body: { image } }),
    resizeVm: (id, flavor) => tell("vm.resize", { id, body: { flavor } }),
    confirmResize: (id) => tell("vm.resize.confirm", { id }),
    revertResize: (id) => tell("vm.resize.revert", { id }),
    snapshotVm: (id, name) => call("vm.snapshot", { id, body: { name } }, () => accepted({})),
    stopVm: (id) => tell("vm.stop", { id }),
    startVm: (id) => tell("vm.start", { id }),
    rebootVm: (id) => tell("vm.reboot", { id }),
    deleteVm: (id, ip) =>
      call("vm.delete", { id, query: ip === undefined ? "" : `delete_floating_ip=${ip}` }, (body) =>
        accepted(readDeletedVm(payloadOf(body))),
      ),
    listVolumes: () => list("volume.list", read.volume),
    getVolume: (id) => call("volume.get", { id }, (body) => read.volume(payloadOf(body))),
    createVolume: (name, sizeGb) =>
      call("volume.create", { body: { name, size: String(sizeGb) } }, (body) => read.volume(payloadOf(body))),
    attachVolume: (volume, vm) => tell("volume.attach", { body: { vm_id: vm, volume_id: volume } }),
    detachVolume: (volume, vm, flushed) =>
      tell("volume.detach", { body: { vm_id: vm, volume_id: volume, flush_confirmed: flushed } }),
    resizeVolume: (id, sizeGb) => tell("volume.resize", { id, body: { size: String(sizeGb) } }),
    deleteVolume: (id) => tell("volume.delete", { id }),
    listGroups: () => list("group.list", read.group),
    getGroup: (id) => call("group.get", { id }, (body) => read.group(payloadOf(body))),
    createGroup: async ({ name, description, rules }) => {
      const bodies = rules.map((rule) => ruleBody(rule, dialect.rules));
      const refused = bodies.find(isRejection);
      if (refused !== undefined) return refused;
      return call("group.create", { body: { name, description, rules: bodies } }, (body) =>
        read.group(payloadOf(body)),
      );
    },
    updateGroup: (id, changes) => tell("group.update", { id, body: changes }),
    deleteGroup: (id) => tell("group.delete", { id }),
    listRules: (id) => call("group.rule.list", { id }, (body) => readRules(payloadOf(body))),
    createRule: async (id, rule) => {
      const body = ruleBody(rule, dialect.rules);
      return isRejection(body)
        ? body
        : call("group.rule.create", { id, body }, (answer) => readRule(payloadOf(answer)));
    },
    deleteRule: (id, ruleId) => tell("group.rule.delete", { id, ruleId }),
    importGroups: () => Promise.reject(new Error("not part of these tests")),
    listFlavors: () => list("flavor.list", read.flavor),
    listImages: () => list("image.list", read.image),
    listRegions: () => list("region.list", read.region),
  };
}
