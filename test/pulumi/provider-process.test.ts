import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { capturedProvider } from "../../provider/captured";
import { isSecret } from "../../provider/secrets";
import { eventually } from "../support/eventually";
import { InitFailed, type ProviderProcess, secret, startProviderProcess, unknownText } from "./provider-process";

// Processes of their own: a machine that has other work takes its time.

const vmInputs = {
  name: "Web-1",
  flavorId: "m1.small",
  imageId: "ubuntu-24.04",
  owner: "ops@acme.example",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
  size: 10,
};
const timing = JSON.stringify({ poll_interval: "20ms", discovery_window: "500ms" });
const everything = ["volume.list", "group.list", "group.get", "group.rule.delete"];

describe.each(["dynamic", "plugin"] as const)("the provider as a process, %s", (kind) => {
  let emulator: RunningEmulator;
  let provider: ProviderProcess;
  const urn = (type: string, name = "one"): string =>
    `urn:pulumi:dev::demo::${kind === "dynamic" ? `pulumi-nodejs:dynamic/reconcile-cloud:${type}` : `reconcile-cloud:index:${type}`}::${name}`;
  const raw = (type: string, inputs: object): Record<string, unknown> => ({
    ...inputs,
    ...(kind === "dynamic" ? { __provider: capturedProvider(type) } : {}),
  });
  const open = async (timeScale: number): Promise<void> => {
    emulator = await startEmulator({ timeScale, with: everything });
    const settings = { baseUrl: emulator.url, token: "ops-token", timing };
    provider = await startProviderProcess({
      kind,
      config:
        kind === "dynamic"
          ? Object.fromEntries(
              Object.entries(settings).map(([key, value]) => [
                `reconcile-cloud:${key}`,
                key === "token" ? secret(value) : value,
              ]),
            )
          : { ...settings, token: secret(settings.token) },
    });
  };
  beforeEach(() => open(0));
  afterEach(async () => {
    await provider.stop();
    await emulator.close();
  });

  it("checks in the words of the file reader, each failure at its property, and normalises", async () => {
    const bad = await provider.check(
      urn("Vm"),
      {},
      raw("Vm", { ...vmInputs, name: "x", flavourId: "m1", size: 0, owner: undefined }),
    );
    expect(bad.failures.map(({ property }) => property).sort()).toEqual(["flavourId", "name", "owner", "size"]);
    expect(bad.failures.find(({ property }) => property === "flavourId")?.reason).toContain("flavorId");
    const good = await provider.check(urn("Vm"), {}, raw("Vm", { ...vmInputs, size: "10" }));
    expect(good).toMatchObject({ failures: [], inputs: { size: 10 } });
  });

  it("goes on with what the other one has made, and writes once what it is served by itself", async () => {
    const inputs = { name: "data", size: 5 };
    const made = await provider.create(urn("Volume"), raw("Volume", inputs));
    // The two differ in the state by this alone.
    const { __provider: _text, __managed: _mark, ...ofPlugin } = made.outs;
    const known = kind === "dynamic" ? ofPlugin : { ...made.outs, __provider: capturedProvider("Volume") };
    const { inputs: wanted } = await provider.check(urn("Volume"), inputs, raw("Volume", inputs));
    const found = await provider.diff(made.id, urn("Volume"), known, wanted, inputs);
    expect([found.changes, found.replaces]).toEqual([kind === "dynamic" ? "some" : "none", []]);
    if (kind === "plugin") return;
    const sent = emulator.requests().log.length;
    const kept = await provider.update(made.id, urn("Volume"), known, wanted);
    expect(
      emulator
        .requests()
        .log.slice(sent)
        .filter(({ method }) => method !== "GET"),
    ).toEqual([]);
    expect((await provider.diff(made.id, urn("Volume"), kept, wanted, inputs)).changes).toBe("none");
    await provider.delete(made.id, urn("Volume"), kept);
    expect(emulator.dump().volumes).toEqual([]);
  });

  it("names what the program leaves unnamed: as the stack says, else by the program's own name, made long enough", async () => {
    const { name: _name, ...unnamed } = vmInputs;
    const named = kind === "dynamic" ? { name: "db", __program: { of: urn("Vm", "db"), named: true } } : {};
    const wanted = raw("Vm", { ...unnamed, ...named });
    const first = await provider.check(urn("Vm", "db"), {}, wanted);
    expect(first).toMatchObject({ failures: [], inputs: { name: "db-1" } });
    expect((await provider.check(urn("Vm", "db"), first.inputs, wanted)).inputs["name"]).toBe("db-1");
    if (kind === "dynamic") return;
    const proposed = { proposedName: "db-4f2a9c1", mode: "propose" } as const;
    const made = await provider.check(urn("Vm", "db"), {}, wanted, proposed);
    expect(made).toMatchObject({ failures: [], inputs: { name: "db-4f2a9c1" } });
    const later = await provider.check(urn("Vm", "db"), made.inputs, wanted, {
      ...proposed,
      proposedName: "db-0000000",
    });
    expect(later.inputs["name"]).toBe("db-4f2a9c1");
    const refused = await provider.check(urn("Vm", "db"), {}, wanted, { proposedName: "", mode: "disable" });
    expect(refused.failures.map(({ property }) => property)).toEqual(["name"]);
  });

  it.runIf(kind === "dynamic")(
    "what was a secret stays one: a name that is left out, and what a refresh finds",
    async () => {
      const of = urn("Volume");
      const made = await provider.create(
        of,
        raw("Volume", { name: "data", size: 5, __program: { of, secrets: ["name"] } }),
      );
      const read = await provider.read(made.id, of, made.outs, {});
      expect(isSecret(read.inputs?.["name"])).toBe(true);
      const unnamed = raw("Volume", { name: "one", size: 6, __program: { of, named: true } });
      const { inputs } = await provider.check(of, made.outs, unnamed);
      expect(inputs).toMatchObject({ name: secret("data"), __program: { named: true, secrets: ["name"] } });
      const outs = await provider.update(made.id, of, made.outs, { ...inputs, name: "data" });
      expect(outs).toMatchObject({ size: 6, __program: { name: secret("data") } });
    },
  );

  it.runIf(kind === "plugin")("rules that an import has shown and the program left out are not its own", async () => {
    const [of, rules] = [urn("SecurityGroup"), [{ protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" }]];
    const { id } = await provider.create(urn("SecurityGroup", "theirs"), { name: "web-group", rules });
    const found = await provider.read(id, of, {}, {});
    const inputs = { name: "web-group", rulesMode: "shared" };
    // Without a difference the engine keeps what the import has shown, beside what the program says.
    for (const said of [found.inputs, inputs])
      expect((await provider.diff(id, of, found.outs!, inputs, said)).changes).toBe("none");
  });

  it("takes what is not known yet at any depth for what it is", async () => {
    const rules = [{ protocol: "tcp", dstPort: "22", remoteGroup: unknownText }];
    const checked = await provider.check(urn("SecurityGroup"), {}, raw("SecurityGroup", { name: "web-group", rules }));
    expect(checked.failures).toEqual([]);
    expect(checked.inputs["rules"]).toEqual(rules);
    expect((await provider.check(urn("Vm"), {}, raw("Vm", { ...vmInputs, imageId: unknownText }))).failures).toEqual(
      [],
    );
  });

  it("creates, finds no difference, updates in place, sees drift, and deletes once and again", async () => {
    const inputs = raw("Vm", vmInputs);
    const made = await provider.create(urn("Vm"), inputs);
    expect(made.outs).toMatchObject({ flavorId: "m1.small", floatingIp: expect.any(String) });
    expect(await provider.diff(made.id, urn("Vm"), made.outs, inputs)).toMatchObject({ changes: "none", replaces: [] });
    const larger = raw("Vm", { ...vmInputs, flavorId: "m1.large" });
    expect(await provider.diff(made.id, urn("Vm"), made.outs, larger)).toMatchObject({ changes: "some", replaces: [] });
    const outs = await provider.update(made.id, urn("Vm"), made.outs, larger);
    expect(outs).toMatchObject({ flavorId: "m1.large" });
    await fetch(`${emulator.url}/api/v1/vm/rename/${made.id}`, {
      method: "POST",
      headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
      body: JSON.stringify({ name: "hacked" }),
    });
    const read = await provider.read(made.id, urn("Vm"), outs, larger);
    expect([read.inputs?.["name"], read.outs?.["name"]]).toEqual(["hacked", "hacked"]);
    expect((await provider.diff(made.id, urn("Vm"), read.outs!, larger)).changes).toBe("some");
    // Another VM of the program shows, so that the one that does not is gone for this credential as well.
    const inputsOfOther = raw("Vm", { ...vmInputs, name: "witness" });
    const other = await provider.create(urn("Vm", "witness"), inputsOfOther);
    await provider.read(other.id, urn("Vm", "witness"), other.outs, inputsOfOther);
    await provider.delete(made.id, urn("Vm"), outs);
    expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["witness"]);
    expect((await provider.read(made.id, urn("Vm"), outs, larger)).id).toBe("");
    await provider.delete(made.id, urn("Vm"), outs);
  });

  it("replaces what the service cannot change, the old one first, and says so while the cause is not known yet", async () => {
    const made = await provider.create(urn("Vm"), raw("Vm", vmInputs));
    for (const region of ["in-south-1", unknownText]) {
      const found = await provider.diff(made.id, urn("Vm"), made.outs, raw("Vm", { ...vmInputs, region }));
      expect(found).toMatchObject({ changes: "some", replaces: ["region"], deleteBeforeReplace: true });
    }
  });

  it("finds out before anything is deleted that a replacement would be refused", async () => {
    const made = await provider.create(urn("Vm"), raw("Vm", vmInputs));
    const nowhere = raw("Vm", { ...vmInputs, region: "nowhere-1" });
    await expect(provider.diff(made.id, urn("Vm"), made.outs, nowhere)).rejects.toThrow("nowhere-1 is no region");
  });

  it("a VM that fails to build is kept with its id, and the next difference replaces it", async () => {
    const failing = raw("Vm", { ...vmInputs, flavorId: "m1.unavailable" });
    const flavor = emulator.dump().flavors.find(({ provisionable }) => !provisionable);
    const inputs = { ...failing, flavorId: flavor?.name ?? "none" };
    const error = await provider.create(urn("Vm"), inputs).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InitFailed);
    const { id, properties } = error as InitFailed;
    expect(id).toBe(emulator.dump().vms[0]?.id);
    const next = await provider.diff(id, urn("Vm"), properties, raw("Vm", vmInputs));
    expect(next.replaces).not.toEqual([]);
    await provider.delete(id, urn("Vm"), properties);
    expect(emulator.dump().vms).toEqual([]);
  });

  it("looks up by id alone; what is not there is not found", async () => {
    const made = await provider.create(urn("Vm"), raw("Vm", vmInputs));
    const found = await provider.read(made.id, urn("Vm"), raw("Vm", {}), raw("Vm", {}));
    expect(found.outs).toMatchObject({ name: "web-1", flavorId: expect.any(String) });
    const missing = await provider
      .read("no-such", urn("Vm"), raw("Vm", {}), raw("Vm", {}))
      .catch((error: Error) => error.message);
    if (kind === "dynamic") expect(missing).toContain("does not exist");
    else expect(missing).toMatchObject({ id: "" });
  });

  it("needs a stated flush to take a volume off", async () => {
    const vm = await provider.create(urn("Vm"), raw("Vm", vmInputs));
    const volume = await provider.create(urn("Volume"), raw("Volume", { name: "data", size: 5 }));
    const wanted = { vmId: vm.id, volumeId: volume.id };
    const made = await provider.create(urn("VolumeAttachment"), raw("VolumeAttachment", wanted));
    expect(made.id).toBe(`${vm.id}/${volume.id}`);
    await expect(provider.delete(made.id, urn("VolumeAttachment"), made.outs)).rejects.toThrow("flushConfirmed: true");
    const stated = await provider.update(
      made.id,
      urn("VolumeAttachment"),
      made.outs,
      raw("VolumeAttachment", { ...wanted, flushConfirmed: true }),
    );
    await provider.delete(made.id, urn("VolumeAttachment"), stated);
    expect(emulator.dump().volumes.find(({ id }) => id === volume.id)?.attached_to).toBeNull();
  });

  it.runIf(kind === "plugin")(
    "previews computed outputs, has a schema, refuses unknown settings, and wraps secrets again",
    async () => {
      const preview = await provider.create(urn("Vm"), vmInputs, { preview: true });
      expect([preview.id, preview.outs["floatingIp"]]).toEqual(["", unknownText]);
      expect(emulator.dump().vms).toEqual([]);
      const { resources } = (await provider.schema()) as {
        resources: Record<string, { requiredInputs: string[]; isComponent?: boolean }>;
      };
      const named = (isComponent: boolean): (string | undefined)[] =>
        Object.entries(resources).flatMap(([token, one]) =>
          (one.isComponent ?? false) === isComponent ? [token.split(":").at(-1)] : [],
        );
      expect(named(false)).toEqual(["Vm", "Volume", "VolumeAttachment", "SecurityGroup", "SecurityGroupRule"]);
      expect(named(true)).toEqual(["DesiredState", "VmWithVolumes", "SecurityGroupSet"]);
      // What only a create needs is left out of a program that an import wrote.
      expect(resources["reconcile-cloud:index:Vm"]?.requiredInputs).toEqual(["flavorId", "imageId", "owner"]);
      const config = await provider.checkConfig({ baseUrl: "embedded", token: "t0p", colour: "red" });
      expect(config.failures.map(({ property }) => property)).toEqual(["colour"]);
      expect(config.inputs["token"]).toEqual(secret("t0p"));
      const withUser = await provider.checkConfig({ baseUrl: "http://me:hush@127.0.0.1:1" });
      expect(withUser.failures.map(({ reason }) => reason)).toEqual([expect.stringContaining("holds a credential")]);
      const wrong = { parallelism: "many", timing: "2s", insecureHttp: "yes", acceptService: "TRUE", timeScale: "" };
      expect((await provider.checkConfig(wrong)).failures).toEqual([
        { property: "timing", reason: "timing must be a JSON object" },
        { property: "insecureHttp", reason: "insecureHttp must be true or false, not yes" },
        { property: "parallelism", reason: "parallelism must be a number, not many" },
        { property: "acceptService", reason: "acceptService must be true or false, not TRUE" },
      ]);
      const look = provider.invoke("reconcile-cloud:index:getVm", { name: secret("hush-hush") });
      await expect(look).rejects.toThrow("there is no VM [secret]");
      const here = { baseUrl: "http://127.0.0.1:1" };
      for (const [after, replaces] of [
        [{ ...here, parallelism: unknownText }, []],
        [{ baseUrl: "http://127.0.0.1:2" }, ["baseUrl"]],
        [{ baseUrl: "HTTP://127.0.0.1:1/" }, []],
        // The update may find another one.
        [{ baseUrl: unknownText }, ["baseUrl"]],
        [{ baseUrl: unknownText, acceptService: true }, []],
      ] as const)
        expect(await provider.diffConfig(here, after)).toEqual(replaces);
      const checked = await provider.check(urn("Volume", "from-urn"), {}, { size: secret(5) });
      expect(checked.inputs).toEqual({ name: "from-urn", size: secret(5), __defaults: ["name"] });
    },
  );

  it.runIf(kind === "plugin")(
    "a secret name that the program leaves out from now on stays one in the state",
    async () => {
      const of = urn("Vm", "web");
      const { name: _name, ...unnamed } = vmInputs;
      const { inputs } = await provider.check(of, { ...unnamed, name: secret("hush-name") }, unnamed);
      expect(inputs["name"]).toEqual(secret("hush-name"));
      const made = await provider.create(of, inputs);
      await fetch(`${emulator.url}/api/v1/vm/rename/${made.id}`, {
        method: "POST",
        headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
        body: JSON.stringify({ name: "elsewhere" }),
      });
      const read = await provider.read(made.id, of, made.outs, inputs);
      expect(read.inputs).toMatchObject({ name: secret("elsewhere"), __madeUpAs: secret({ name: "hush-name" }) });
      const again = await provider.check(of, read.inputs ?? {}, unnamed);
      expect(again.inputs["name"]).toEqual(secret("hush-name"));
    },
  );

  it("a value that was a secret until now is in no message", async () => {
    const note = (...secrets: string[]) => (kind === "dynamic" ? { __program: { of: urn("Vm"), secrets } } : {});
    const name = kind === "dynamic" ? "hush-name" : secret("hush-name");
    const made = await provider.create(urn("Vm"), raw("Vm", { ...vmInputs, name, ...note("name") }));
    emulator.setFaults([{ operation: "vm.rename", kind: "status", code: 403, when: "before" }]);
    const open = raw("Vm", { ...vmInputs, name: "open-name", ...note() });
    await expect(provider.update(made.id, urn("Vm"), made.outs, open)).rejects.toThrow(
      /rename VM \[secret\] to open-name/,
    );
  });

  it.runIf(kind === "plugin")(
    "the record is a secret where an input is one, and stays one: it remembers what the inputs were",
    async () => {
      const made = await provider.create(urn("Volume"), { name: "data", size: 5 });
      expect(made.outs["recorded"]).toMatchObject({ record: { name: "data" } });
      const hidden = await provider.update(made.id, urn("Volume"), made.outs, { name: "data", size: secret(6) });
      expect([isSecret(hidden["size"]), isSecret(hidden["recorded"])]).toEqual([true, true]);
      const plain = await provider.update(made.id, urn("Volume"), hidden, { name: "data", size: 7 });
      expect([isSecret(plain["size"]), isSecret(plain["recorded"])]).toEqual([false, true]);
    },
  );

  it.runIf(kind === "plugin")(
    "a state with a secret in the clear, from an earlier version or from before it was one, is written anew",
    async () => {
      const inputs = { name: secret("canary"), size: 5 };
      const made = await provider.create(urn("Volume"), inputs);
      expect((await provider.diff(made.id, urn("Volume"), made.outs, inputs, inputs)).changes).toBe("none");
      const { value } = made.outs["recorded"] as { value: unknown };
      const earlier = { ...made.outs, recorded: value };
      const found = await provider.diff(made.id, urn("Volume"), earlier, inputs, inputs);
      expect(found).toMatchObject({ changes: "some", replaces: [], detailed: ["~recorded"] });
      const clear = { name: "canary", size: 5 };
      const shown = await provider.diff(
        made.id,
        urn("Volume"),
        { ...made.outs, ...clear, recorded: value },
        inputs,
        clear,
      );
      expect(shown).toMatchObject({ changes: "some", replaces: [], detailed: ["~recorded"] });
      const before = emulator.requests().log.length;
      const written = await provider.update(made.id, urn("Volume"), earlier, inputs);
      expect(JSON.stringify(written)).toBe(JSON.stringify(made.outs));
      const methods = emulator
        .requests()
        .log.slice(before)
        .map(({ method }) => method);
      expect(methods.filter((method) => method !== "GET")).toEqual([]);
    },
  );

  it.runIf(kind === "plugin")(
    "an output that the program makes a secret is none in the clear in the record, once an update has written it",
    async () => {
      const made = await provider.create(urn("Vm"), vmInputs);
      // The engine makes it one, by the program's additionalSecretOutputs, and tells no provider.
      const kept = { ...made.outs, privateIp: secret(String(made.outs["privateIp"])) };
      const found = await provider.diff(made.id, urn("Vm"), kept, vmInputs, vmInputs);
      expect(found).toMatchObject({ changes: "some", replaces: [], detailed: ["~recorded"] });
      const written = await provider.update(made.id, urn("Vm"), kept, vmInputs);
      expect(isSecret(written["recorded"])).toBe(true);
      const next = { ...written, privateIp: kept.privateIp };
      expect((await provider.diff(made.id, urn("Vm"), next, vmInputs, vmInputs)).changes).toBe("none");
    },
  );

  it.runIf(kind === "plugin")(
    "cancel and custom timeouts end a create early and keep what it made by its id",
    async () => {
      await provider.stop();
      await emulator.close();
      // A build takes ten minutes here: it is never over before the test is.
      await open(0.1);
      // What a create needs is loaded now, so that the time goes to the request alone.
      await provider.create(urn("Volume", "first"), { name: "first", size: 5 });
      for (const end of ["timeout", "cancel"]) {
        const name = `slow-${end}`;
        const creating = provider
          .create(urn("Vm", name), { ...vmInputs, name }, end === "timeout" ? { timeout: 8 } : {})
          .catch((error: unknown) => error);
        await eventually(name, () => emulator.dump().vms.find((vm) => vm.name === name));
        if (end === "cancel") await provider.cancel();
        const error = await creating;
        expect(error).toBeInstanceOf(InitFailed);
        expect((error as InitFailed).id).toBe(emulator.dump().vms.find((vm) => vm.name === name)?.id);
      }
    },
  );
});
