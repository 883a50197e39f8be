/** One example for each resource and function, in the languages that use the package most. */
type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value } | Reference;

interface Reference {
  readonly idOf: string;
}

const idOf = (name: string): Reference => ({ idOf: name });

interface Example {
  readonly title: string;
  readonly name: string;
  readonly args: Readonly<Record<string, Value>>;
}

const examples: Readonly<Record<string, Example>> = {
  Vm: {
    title: "A virtual machine",
    name: "web",
    args: {
      ...{ flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
      ...{ project: "acme", region: "in-west-1", size: 10 },
    },
  },
  Volume: { title: "A volume", name: "data", args: { size: 20 } },
  VolumeAttachment: {
    title: "A volume that may be taken off again",
    name: "attached",
    args: { vmId: idOf("web"), volumeId: idOf("data"), flushConfirmed: true },
  },
  SecurityGroup: {
    title: "A group that admits HTTPS",
    name: "front",
    args: { rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" }] },
  },
  SecurityGroupRule: {
    title: "A rule beside those of its group",
    name: "ssh",
    args: { securityGroupId: idOf("front"), protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" },
  },
  DesiredState: {
    title: "A whole file",
    name: "site",
    args: { files: ["reconcile.yaml"], vars: { env: "prod" }, flushConfirmed: true },
  },
  VmWithVolumes: {
    title: "A virtual machine with two volumes",
    name: "store",
    args: {
      ...{ flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
      ...{ project: "acme", region: "in-west-1", size: 10 },
      volumes: { data: { size: 100 }, logs: { size: 20 } },
    },
  },
  SecurityGroupSet: {
    title: "Two groups that name each other",
    name: "tiers",
    args: {
      groups: {
        web: { rules: [{ protocol: "tcp", dstPort: "8080", remoteGroup: "data" }] },
        data: { rules: [{ protocol: "tcp", dstPort: "5432", remoteGroup: "web" }] },
      },
    },
  },
};

const isReference = (value: Value): value is Reference =>
  typeof value === "object" && "idOf" in value && typeof value.idOf === "string";

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function typescript(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(typescript).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  if (isReference(value)) return `${value.idOf}.id`;
  return `{ ${Object.entries(value)
    .map(([key, item]) => `${key}: ${typescript(item)}`)
    .join(", ")} }`;
}

function python(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  if (isReference(value)) return `${value.idOf}.id`;
  return `{${Object.entries(value)
    .map(([key, item]) => `"${snake(key)}": ${python(item)}`)
    .join(", ")}}`;
}

const yaml = (value: Value): string =>
  JSON.stringify(value, (_key, item: Value) =>
    typeof item === "object" && item !== null && isReference(item) ? `\${${item.idOf}.id}` : item,
  );

const section = (title: string, programs: Readonly<Record<"typescript" | "python" | "yaml", string>>): string =>
  ["{{% examples %}}", "## Example Usage", "{{% example %}}", `### ${title}`, ""]
    .concat(Object.entries(programs).map(([language, program]) => `\`\`\`${language}\n${program}\n\`\`\``))
    .concat("{{% /example %}}", "{{% /examples %}}")
    .join("\n");

const inTypescript = 'import * as cloud from "@reconcile-cloud/pulumi";\n';
const inPython = "import pulumi_reconcile_cloud as cloud\n";

export function exampleOf(type: string): string {
  const example = examples[type];
  if (example === undefined) return "";
  const { title, name, args } = example;
  const each = (write: (key: string, value: Value) => string): string[] =>
    Object.entries(args).map(([key, value]) => write(key, value));
  return section(title, {
    typescript: [
      inTypescript,
      `const ${name} = new cloud.${type}("${name}", {`,
      ...each((key, value) => `    ${key}: ${typescript(value)},`),
      "});",
    ].join("\n"),
    python: [
      inPython,
      `${name} = cloud.${type}("${name}",`,
      ...each((key, value) => `    ${snake(key)}=${python(value)},`),
      ")",
    ].join("\n"),
    yaml: [
      ...["resources:", `  ${name}:`, `    type: reconcile-cloud:${type}`, "    properties:"],
      ...each((key, value) => `      ${key}: ${yaml(value)}`),
    ].join("\n"),
  });
}

const looked: Readonly<Record<string, string>> = {
  ...{ getFlavor: "m1.small", getImage: "ubuntu-24.04", getRegion: "in-west-1" },
  ...{ getVm: "web", getVolume: "data", getSecurityGroup: "front" },
};

/** An example of the look-up: `getVm` looks up the VM with that name. */
export function lookupExampleOf(name: string): string {
  const wanted = looked[name];
  if (wanted === undefined) return "";
  return section("By its name", {
    typescript: `${inTypescript}\nconst found = cloud.${name}Output({ name: "${wanted}" });\nexport const id = found.id;`,
    python: `import pulumi\n${inPython}\nfound = cloud.${snake(name)}_output(name="${wanted}")\npulumi.export("id", found.id)`,
    yaml: [
      ...["variables:", "  found:", "    fn::invoke:", `      function: reconcile-cloud:${name}`],
      ...["      arguments:", `        name: ${wanted}`, "outputs:", "  id: ${found.id}"],
    ].join("\n"),
  });
}
