/**
 * What a case works with: calls, makers of VMs, volumes and groups that are taken away afterwards, and readers that go
 * through the dialect. A borrowed VM is one that earlier cases left as they found it, since building one takes a minute.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type Asker, type Call, type Client, messageOf, payload, type Role } from "./client";
import type { Contract } from "./contract";
import { type Dialect, isObject, readPointers } from "./dialect";

export interface Target {
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly credentials: Readonly<Partial<Record<Role, string>>>;
  /** Hold the service to what is assumed beyond the contract as well. */
  readonly strict: boolean;
  readonly hasControl: boolean;
  /** How many times faster than real the service's own minutes pass. */
  readonly timeScale: number;
  readonly project?: string | undefined;
  readonly userId?: string | undefined;
  readonly ownerEmail?: string | undefined;
  readonly ownerUsername?: string | undefined;
  /** Left out: the first that the service lists. */
  readonly region?: string | undefined;
  readonly image?: string | undefined;
  readonly flavor?: string | undefined;
  readonly otherFlavor?: string | undefined;
  readonly soldOutFlavor?: string | undefined;
}

export interface Entry {
  readonly id: string;
  readonly name: string;
}

export interface Catalogue {
  readonly flavors: readonly Entry[];
  readonly images: readonly Entry[];
  readonly regions: readonly Entry[];
}

export interface Vm extends Entry {
  readonly record: unknown;
}

export type Kind = "vm" | "volume" | "group" | "flavor" | "image" | "region";

/** What a case made, and what is to be taken away after it. */
export interface Made {
  readonly vmNames: Set<string>;
  readonly volumes: Set<string>;
  readonly groups: Set<string>;
  /** Snapshots: no operation takes an image away. */
  readonly images: Set<string>;
  borrowed: Vm | undefined;
}

export const prefix = "conformance";

/** The service shows too little for the case to tell: neither held nor broken. */
export class Unobservable extends Error {}

export class Context {
  readonly made: Made = {
    vmNames: new Set(),
    volumes: new Set(),
    groups: new Set(),
    images: new Set(),
    borrowed: undefined,
  };

  constructor(
    readonly target: Target,
    private readonly client: Client,
    private readonly contract: Contract,
    readonly catalogue: Catalogue,
    private readonly idleVms: Vm[],
  ) {}

  /** A name nobody has, 3-50 characters. */
  name(label: string): string {
    return `${prefix}-${label}-${randomBytes(4).toString("hex")}`;
  }

  has(operation: string): boolean {
    return this.client.has(operation);
  }

  /** Sends a request; whatever the answer is, it has been judged by the OpenAPI document. */
  async call(operation: string, call: Call = {}): Promise<Answer> {
    const answer = await this.client.call(operation, call);
    this.noteWhatWasMade(answer, call);
    return answer;
  }

  control(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.client.control(method, path, body);
  }

  /** Sends a request that must be taken, and returns its payload. */
  async accepted(operation: string, call: Call = {}): Promise<unknown> {
    const answer = await this.call(operation, call);
    assert.ok(answer.status >= 200 && answer.status < 300, `${operation} answered ${describe(answer)}`);
    return payload(answer);
  }

  /** Sends a request that must be refused for this reason, with the envelope. */
  async refused(condition: string, operation: string, call: Call = {}): Promise<Answer> {
    const answer = await this.call(operation, call);
    const what = `${operation} should be refused (${condition}) and answered ${describe(answer)}`;
    assert.ok(answer.status >= 400 && answer.status < 500, what);
    assert.notEqual(messageOf(answer), "", `${what}: without a message`);
    const conditions = this.contract.conditionsOf(operation, answer.status);
    // Unauthenticated and the like may come before the condition that was asked for only where they are that condition.
    if (conditions !== undefined)
      assert.ok(conditions.includes(condition), `${what}, which means ${conditions.join(" or ")}`);
    return answer;
  }

  field(kind: Kind, name: string, record: unknown): unknown {
    return readPointers(record, this.target.dialect.records[kind]?.[name] ?? [], (value) => value !== null);
  }

  text(kind: Kind, name: string, record: unknown): string {
    const value = this.field(kind, name, record);
    assert.ok(
      typeof value === "string" || typeof value === "number",
      `a ${kind} shows no ${name}: ${JSON.stringify(record)}`,
    );
    return String(value);
  }

  phase(record: unknown): string {
    const status = this.field("vm", "status", record);
    const { states } = this.target.dialect;
    return (
      Object.entries(states).find(([, names]) => (names as readonly unknown[]).includes(status))?.[0] ?? "changing"
    );
  }

  volumesOf(record: unknown): readonly { readonly id: string; readonly root: boolean | undefined }[] {
    const entries = this.field("vm", "volumes", record);
    const { id, root } = this.target.dialect.volumeEntry;
    return (Array.isArray(entries) ? entries : []).map((entry) => ({
      id: String(readPointers(entry, id, (value) => typeof value === "string")),
      root: readPointers(entry, root, (value) => typeof value === "boolean") as boolean | undefined,
    }));
  }

  /** Every entry of a list, over all its pages. */
  async list(operation: string, as: Asker = "caller"): Promise<readonly unknown[]> {
    const { dialect } = this.target;
    const entries: unknown[] = [];
    let page: string | undefined;
    for (let pages = 0; pages < 1000; pages++) {
      const answer = await this.call(operation, {
        as,
        ...(page === undefined ? {} : { query: { [dialect.pageParam]: page } }),
      });
      assert.ok(answer.status < 300, `${operation} answered ${describe(answer)}`);
      const pointers = dialect.items[operation] ?? [
        "",
        "/items",
        "/vms",
        "/volumes",
        "/flavors",
        "/images",
        "/regions",
      ];
      const items = readPointers(payload(answer), pointers, Array.isArray);
      assert.ok(Array.isArray(items), `${operation} answered no list: ${describe(answer)}`);
      entries.push(...items);
      const next = readPointers(answer.body, dialect.next);
      if (typeof next !== "string" || next === "") return entries;
      page = next.includes("?") ? (new URL(next, "http://any").searchParams.get(dialect.pageParam) ?? next) : next;
    }
    throw new Error(`${operation} has no last page`);
  }

  async findVm(name: string): Promise<Vm | undefined> {
    const record = (await this.list("vm.list")).find((vm) => this.field("vm", "name", vm) === name);
    return record === undefined ? undefined : { id: this.text("vm", "id", record), name, record };
  }

  async vmById(id: string): Promise<unknown> {
    return (await this.list("vm.list")).find((vm) => this.field("vm", "id", vm) === id);
  }

  /** Waits until `look` finds something. The time allowed is the service's; a machine that has other work gets more. */
  async until<T>(what: string, look: () => Promise<T | undefined>, seconds = 900): Promise<T> {
    const { timeScale } = this.target;
    const deadline = performance.now() + Math.max(120_000, (seconds * 1000) / timeScale);
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      assert.ok(performance.now() < deadline, `waited in vain until ${what}`);
      await sleep(Math.max(5, 2000 / timeScale));
    }
  }

  untilPhase(vm: Entry, phase: string): Promise<Vm> {
    return this.until(`VM ${vm.name} is ${phase}`, async () => {
      const record = await this.vmById(vm.id);
      const now = this.phase(record);
      assert.ok(now !== "failed" || phase === "failed", `VM ${vm.name} failed: ${JSON.stringify(record)}`);
      return now === phase ? { ...vm, record } : undefined;
    });
  }

  vmRequest(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const { project, userId, ownerEmail, flavor, image, region } = this.target;
    return {
      name: this.name("vm"),
      flavor_id: flavor ?? this.catalogue.flavors[0]?.id,
      image_id: image ?? this.catalogue.images[0]?.id,
      region: region ?? this.catalogue.regions[0]?.name,
      project,
      id: userId,
      owner: ownerEmail,
      size: "1",
      ...fields,
    };
  }

  async freshVm(fields: Readonly<Record<string, unknown>> = {}, as: Asker = "caller"): Promise<Vm> {
    const body = this.vmRequest(fields);
    await this.accepted("vm.create", { body, as });
    const name = String(body["name"]).toLowerCase();
    const found = await this.until(`VM ${name} is listed`, () => this.findVm(name));
    return this.untilPhase(found, "running");
  }

  /** A running VM, to be left as it was. */
  async vm(): Promise<Vm> {
    this.made.borrowed ??= this.idleVms.pop() ?? (await this.freshVm());
    return this.made.borrowed;
  }

  otherFlavor(): string {
    const { otherFlavor } = this.target;
    return otherFlavor ?? this.catalogue.flavors[1]?.id ?? "";
  }

  async volume(sizeGb = 1, as: Asker = "caller"): Promise<string> {
    const record = await this.accepted("volume.create", {
      body: { name: this.name("volume"), size: String(sizeGb) },
      as,
    });
    return this.text("volume", "id", record);
  }

  async readVolume(id: string): Promise<unknown> {
    return this.accepted("volume.get", { params: { id } });
  }

  async group(fields: Readonly<Record<string, unknown>> = {}, as: Asker = "caller"): Promise<string> {
    const record = await this.accepted("group.create", { body: { name: this.name("group"), ...fields }, as });
    return this.text("group", "id", record);
  }

  async rules(groupId: string, as: Asker = "caller"): Promise<readonly Record<string, unknown>[]> {
    return (await this.accepted("group.rule.list", { params: { id: groupId }, as })) as Record<string, unknown>[];
  }

  addRule(groupId: string, body: unknown, as: Asker = "caller"): Promise<Record<string, unknown>> {
    const rule = this.accepted("group.rule.create", { params: { id: groupId }, body, as });
    return rule as Promise<Record<string, unknown>>;
  }

  /** Whatever a request made must go again, expected or not. */
  private noteWhatWasMade(answer: Answer, call: Call): void {
    const { operation, status } = answer;
    if (status >= 300) return;
    const made = payload(answer);
    const id = (kind: Kind) => this.field(kind, "id", made);
    if (operation === "vm.create" && isObject(call.body))
      this.made.vmNames.add(String(call.body["name"]).toLowerCase());
    if (operation === "vm.rename" && isObject(call.body))
      this.made.vmNames.add(String(call.body["name"]).toLowerCase());
    if (operation === "vm.snapshot") this.made.images.add(JSON.stringify(made));
    if (operation === "volume.create" && typeof id("volume") === "string")
      this.made.volumes.add(id("volume") as string);
    if (operation === "group.create" && typeof id("group") === "string") this.made.groups.add(id("group") as string);
    if (operation === "vm.delete" && isObject(made) && Array.isArray(made["preserved_volumes"]))
      for (const volume of made["preserved_volumes"]) this.made.volumes.add(String(volume));
    if (operation === "group.import" && isObject(made) && Array.isArray(made["groups"]))
      for (const group of made["groups"])
        if (isObject(group) && typeof group["id"] === "string" && group["id"] !== "") this.made.groups.add(group["id"]);
  }
}

export const describe = (answer: Answer): string => `${answer.status} ${JSON.stringify(answer.body)?.slice(0, 300)}`;
