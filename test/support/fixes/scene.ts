/** What worlds are made of that provoke a diagnostic. */
import type { DiagnosticCode } from "../../../reconciler/core/model/diagnostic-code";
import type { Act, Stage, World } from "../follower";
import type { Asked, OtherService } from "../other-services/other-service";

export const list = (path: string): string => `{ method: GET, path: ${path} }`;
export const lists = {
  "volume.list": list("/api/v1/volume/list"),
  "group.list": list("/api/v1/security-group"),
  "vm.get": `{ method: GET, path: "/api/v1/vm/{id}" }`,
  "group.get": `{ method: GET, path: "/api/v1/security-group/{id}" }`,
  "volume.delete": `{ method: DELETE, path: "/api/v1/volume/{id}" }`,
} as const;
export type Listed = keyof typeof lists;

export interface Head {
  readonly has?: readonly Listed[];
  readonly operations?: string;
  readonly dialect?: string;
  readonly service?: string;
  readonly more?: string;
}

export const timing = "{ poll_interval: 5ms, discovery_window: 120ms, vm_create_timeout: 1500ms }";
export const head = ({
  has = [],
  operations = "",
  dialect = "",
  service = "",
  more = "",
}: Head = {}): string => `version: 1
project: acme
region: in-west-1
service: { timing: ${timing}, dialect: { operations: { ${has.map((name) => `${name}: ${lists[name]},`).join(" ")} ${operations} }${dialect} }${service} }
${more}defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;

export const file = (blocks: string, options?: Head): Readonly<Record<string, string>> => ({
  "reconcile.yaml": `${head(options)}${blocks}\n`,
});
export const all: readonly Listed[] = ["volume.list", "group.list", "vm.get", "group.get", "volume.delete"];

/** The answer to the first request of the operation is lost, after the effect or before it. */
export const lost = (operation: string, arrives: boolean): OtherService => {
  let isOver = false;
  const once = (asked: { readonly operation: string }): "nothing" | undefined => {
    if (isOver || asked.operation !== operation) return undefined;
    isOver = true;
    return "nothing";
  };
  return arrives ? { tell: once } : { hear: once };
};

/** The first request of the operation is answered well, and nothing is done. */
export const swallowed = (operation: string, answer: (body: Asked["body"]) => unknown): OtherService => ({
  hear: (asked) =>
    asked.operation === operation && asked.nthOfItsKind === 1
      ? { status: 200, body: { data: answer(asked.body) } }
      : undefined,
});

export const applied = (here: Stage): Promise<void> => here.ok("apply", "-y", "--allow-data-loss");
export const itsId = (name: string) => (here: Stage) => ({ ID: here.idOf(name) });

export type Worlds = Partial<Record<DiagnosticCode, readonly World[]>>;

/** The service puts it into a failed state. */
export const failNow = (here: Stage, table: "vms" | "volumes", status: string): Promise<void> =>
  here.door.truth.change((world) => ({ ...world, [table]: world[table].map((one) => ({ ...one, status })) }));
export const failsFirst = (operation: string, table: "vms" | "volumes", status: string): OtherService => ({
  async tell(asked, _, truth) {
    if (asked.operation === operation && asked.nthOfItsKind === 1)
      await truth.change((world) => ({
        ...world,
        [table]: world[table].map((one) => ({ ...one, status, ...("pending" in one ? { pending: null } : {}) })),
      }));
    return undefined;
  },
});

/** A mistake in a file, which `validate` finds; `text` takes the place of the file. */
export const mistake = (text: string, act: Act, more: Partial<World> = {}): World => ({
  files: { "reconcile.yaml": text },
  command: ["validate"],
  follow: [act],
  ...more,
});

export const vm = "vms: { web: {} }";
export const validate: Partial<World> = { command: ["validate"] };

/** Another project that uses the same service: what it makes is a stranger here. */
export const stranger = (blocks: string, options?: Head) => async (here: Stage) => {
  here.write(
    "theirs/reconcile.yaml",
    `${head(options).replace(/^service: .*/m, `service: { timing: ${timing} }`)}${blocks}\n`,
  );
  await here.ok("apply", "theirs", "-y");
};
export const shows = (kind: "vms" | "volumes", name: string, status: string) => (here: Stage) =>
  here.door.truth.change((world) => ({
    ...world,
    [kind]: world[kind].map((one) => (one.name === name ? { ...one, status } : one)),
  }));
export const called = (name: string, now: string) => (here: Stage) =>
  here.door.truth.change((world) => ({
    ...world,
    vms: world.vms.map((one) => (one.name === name ? { ...one, name: now } : one)),
  }));
export const gone = (kind: "vms" | "volumes" | "groups", name: string) => (here: Stage) =>
  here.door.truth.change((world) => {
    const id = here.idOf(name);
    const left = { ...world, [kind]: world[kind].filter((one) => one.id !== id) };
    const volumes = left.volumes.filter(({ root, attached_to }) => !(root && attached_to === id));
    return {
      ...left,
      volumes: volumes.map((one) =>
        one.attached_to === id ? { ...one, attached_to: null, status: "available" } : one,
      ),
    };
  });
export const both =
  (...all: readonly ((here: Stage) => unknown)[]) =>
  async (here: Stage): Promise<void> => {
    for (const one of all) await one(here);
  };
export const rewritten = (from: string | RegExp, to: string) => (here: Stage) => here.edit("reconcile.yaml", from, to);
export const runs =
  (...args: readonly string[]) =>
  (here: Stage) =>
    here.ok(...args);

/** The state says that a live process holds it. */
export const held = (here: Stage): void =>
  here.write(
    "reconcile.state.json.lock",
    JSON.stringify({
      ...{ who: "ann", host: "another-machine", pid: 1, command: "apply", at: new Date().toISOString() },
      ...{ since: new Date().toISOString(), token: "57a17000", processes: "elsewhere" },
    }),
  );
/** The console does it: the field of what has this name becomes this. */
export const changed = (kind: "vms" | "volumes" | "groups", name: string, fields: object) => (here: Stage) =>
  here.door.truth.change((world) => ({
    ...world,
    [kind]: world[kind].map((one) => (one.name === name ? { ...one, ...fields } : one)),
  }));
/** The first answers of the operation are this; how often. */
export const answers = (operation: string, status: number, message: string, times = 1): OtherService => ({
  hear: (asked) =>
    asked.operation === operation && asked.nthOfItsKind <= times
      ? { status, body: { error: { code: status, message } } }
      : undefined,
});
export const sets = (name: string, value: (here: Stage) => string) => (here: Stage) => {
  here.env[name] = value(here);
};
