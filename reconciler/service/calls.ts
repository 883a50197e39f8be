/**
 * Each operation of client.ts as the ids it names, the body it carries and the reader of its answer, over whatever sends
 * it: HTTP (http-client.ts), or a world in this process (rehearse/in-process-client.ts).
 */

import type { Kind } from "../core/model/kinds";
import type { CatalogueEntry, LiveImage, LiveRule, LiveVm, LiveVolume } from "../core/model/live";
import {
  isList,
  type ListOperation,
  type Operation,
  operationNames,
  type operations,
  rowOf,
} from "../core/model/operation";
import { accepted, type Outcome, rejected } from "../core/model/outcome";
import { ifAny } from "../core/text/objects";
import type { PagedOperation } from "../dialect/answers";
import type { Dialect } from "../dialect/dialect";
import type { Reading } from "../dialect/reading";
import type { RecordReaders } from "../dialect/records";
import type { ImportReport } from "../dialect/reports";
import { readDeletedVm, readImportReport } from "../dialect/reports";
import type { Ids } from "../dialect/requests";
import { otherGroupOf, readLiveRule } from "../dialect/rule-record";
import type { Acknowledged, RequestOptions, ServiceClient } from "./client";
import { createVmBody, isRejection, type RuleBody, ruleBody } from "./request-bodies";

export interface OneRequest {
  readonly ids?: Ids;
  readonly query?: string;
  readonly body?: unknown;
}

export interface Sender {
  /** `reader` is given the payload of an answer that was accepted. */
  send<T>(
    operation: Operation,
    request: OneRequest,
    reader: (payload: unknown) => Reading<T>,
    options: RequestOptions | undefined,
  ): Promise<Outcome<T>>;
  /** All pages of a list. */
  list<T extends { readonly id: string }>(
    operation: PagedOperation,
    ids: Ids,
    readRecord: (record: unknown) => Reading<T>,
    options: RequestOptions | undefined,
  ): Promise<Outcome<readonly T[]>>;
}

/** The methods of a client, without its properties. */
export type Calls = Pick<ServiceClient, (typeof operations)[Operation]["call"]>;

export function callsOver({ send, list }: Sender, read: RecordReaders, ruleForm: Dialect["rules"]): Calls {
  /** An acknowledgement: its text says nothing that the status did not. */
  const acknowledge = (
    operation: Operation,
    ids: Ids,
    body: unknown,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<void>> => send(operation, { ids, body }, () => accepted(undefined), requestOptions);

  const listOf =
    <T extends { readonly id: string }>(operation: ListOperation, readRecord: (record: unknown) => Reading<T>) =>
    (requestOptions?: RequestOptions): Promise<Outcome<readonly T[]>> =>
      list(operation, {}, readRecord, requestOptions);

  /** A resource that is listed as deleted does not exist: its name is free, and nobody waits for it. */
  const thoseThere =
    <T extends LiveVm | LiveVolume>(listAll: (requestOptions?: RequestOptions) => Promise<Outcome<readonly T[]>>) =>
    async (requestOptions?: RequestOptions): Promise<Outcome<readonly T[]>> => {
      const listed = await listAll(requestOptions);
      if (listed.status !== "accepted") return listed;
      const goneAs = new Map<string, string>();
      for (const live of listed.value) {
        const word = read.goneWord(live);
        if (word !== undefined) goneAs.set(live.id, word);
      }
      if (goneAs.size === 0) return listed;
      return { ...listed, value: listed.value.filter(({ id }) => !goneAs.has(id)), goneAs };
    };

  const ifThere = <T extends LiveVm | LiveVolume>(reading: Reading<T>): Reading<T> => {
    const word = reading.status === "accepted" ? read.goneWord(reading.value) : undefined;
    return word === undefined
      ? reading
      : { status: "rejected", condition: "not_found", message: `the service shows it as ${word}`, word };
  };

  /** A record of another id says nothing about this one. */
  const ofId = <T extends { readonly id: string; readonly kind: Kind }>(id: string, reading: Reading<T>): Reading<T> =>
    reading.status !== "accepted" || reading.value.id.toLowerCase() === id.toLowerCase()
      ? reading
      : rejected(
          "unreadable",
          `the service was asked for ${id} and answered with the record of ${reading.value.id}`,
          `in the dialect, if that is no id: records.${reading.value.kind}.id says where the id is`,
        );

  /** A list of rules that has another group's is not this group's. */
  const ruleOf = (groupId: string, record: unknown, reading: Reading<LiveRule>): Reading<LiveRule> => {
    const shown = otherGroupOf(record, groupId);
    return reading.status !== "accepted" || shown === undefined
      ? reading
      : rejected(
          "unreadable",
          `the service was asked for the rules of ${groupId} and answered with rule ${reading.value.id} of ${shown}`,
          "in the dialect, if it is asked for in another way: operations.group.rule.list",
        );
  };

  const byIdAlone = Object.fromEntries(
    operationNames
      .filter((operation) => rowOf(operation).sends === "id")
      .map((operation) => {
        const call: Acknowledged[keyof Acknowledged] = (id, o) => acknowledge(operation, { id }, undefined, o);
        return [rowOf(operation).call, call];
      }),
    // The type has the same calls from the same rows.
  ) as Acknowledged;

  const own: Calls = {
    ...byIdAlone,
    listVms: thoseThere(listOf("vm.list", read.vm)),
    getVm: (id, o) => send("vm.get", { ids: { id } }, (body) => ifThere(ofId(id, read.vm(body))), o),
    createVm: (input, o) => acknowledge("vm.create", {}, createVmBody(input), o),
    renameVm: (id, name, o) => acknowledge("vm.rename", { id }, { name }, o),
    rebuildVm: (id, image, o) => acknowledge("vm.rebuild", { id }, { image }, o),
    resizeVm: (id, flavor, o) => acknowledge("vm.resize", { id }, { flavor }, o),
    snapshotVm: (id, name, o) =>
      send(
        "vm.snapshot",
        { ids: { id }, body: { name } },
        (body) => accepted({ imageId: read.snapshotImage(body) }),
        o,
      ),
    deleteVm: (id, deleteFloatingIp, o) => {
      const query = deleteFloatingIp === undefined ? "" : `?delete_floating_ip=${deleteFloatingIp}`;
      return send("vm.delete", { ids: { id }, query }, (body) => accepted(readDeletedVm(body)), o);
    },

    listVolumes: thoseThere(listOf("volume.list", read.volume)),
    getVolume: (id, o) => send("volume.get", { ids: { id } }, (body) => ifThere(ofId(id, read.volume(body))), o),
    createVolume: (name, sizeGb, o) =>
      send("volume.create", { body: { name, size: String(sizeGb) } }, (body) => read.volume(body), o),
    attachVolume: (volumeId, vmId, o) => acknowledge("volume.attach", {}, { vm_id: vmId, volume_id: volumeId }, o),
    detachVolume: (volumeId, vmId, flushConfirmed, o) =>
      acknowledge("volume.detach", {}, { vm_id: vmId, volume_id: volumeId, flush_confirmed: flushConfirmed }, o),
    resizeVolume: (id, sizeGb, o) => acknowledge("volume.resize", { id }, { size: String(sizeGb) }, o),

    listGroups: listOf("group.list", read.group),
    getGroup: (id, o) => send("group.get", { ids: { id } }, (body) => ofId(id, read.group(body)), o),
    createGroup: async ({ name, description, rules }, o) => {
      const bodies: RuleBody[] = [];
      for (const rule of rules) {
        const body = ruleBody(rule, ruleForm);
        if (isRejection(body)) return body;
        bodies.push(body);
      }
      const body = { name, description, rules: ifAny(bodies) };
      return send("group.create", { body }, (answer) => read.group(answer), o);
    },
    updateGroup: (id, changes, o) => acknowledge("group.update", { id }, changes, o),
    listRules: (groupId, o) =>
      list("group.rule.list", { id: groupId }, (record) => ruleOf(groupId, record, readLiveRule(record)), o),
    createRule: async (groupId, rule, o) => {
      const body = ruleBody(rule, ruleForm);
      if (isRejection(body)) return body;
      return send("group.rule.create", { ids: { id: groupId }, body }, (answer) => readLiveRule(answer), o);
    },
    deleteRule: (groupId, ruleId, o) =>
      acknowledge("group.rule.delete", { id: groupId, rule_id: ruleId }, undefined, o),
    importGroups: (listing, o): Promise<Outcome<ImportReport>> =>
      send("group.import", { body: listing }, (body) => readImportReport(body), o),

    listFlavors: listOf<CatalogueEntry>("flavor.list", read.flavor),
    listImages: listOf<LiveImage>("image.list", read.image),
    listRegions: listOf<CatalogueEntry>("region.list", read.region),
  };

  /** An operation of a kind without calls of its own. */
  const byRow = (operation: Operation) => {
    const [kind = "", verb] = operation.split(".");
    const reader = read.ofKind(kind);
    if (isList(operation)) return listOf(operation, reader);
    if (verb === "get")
      return (id: string, o?: RequestOptions) => send(operation, { ids: { id } }, (body) => ofId(id, reader(body)), o);
    return (ids: Ids, body: unknown, o?: RequestOptions) =>
      verb === "create" ? send(operation, { ids, body }, reader, o) : acknowledge(operation, ids, body, o);
  };
  const others = operationNames.filter((operation) => !(rowOf(operation).call in own));
  return { ...own, ...Object.fromEntries(others.map((operation) => [rowOf(operation).call, byRow(operation)])) };
}
