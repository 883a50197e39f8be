// One example for each resource and function, in every language that Pulumi has.
const idOf = (name) => ({ idOf: name });

const examples = {
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
    after: ["Vm", "Volume"],
    name: "attached",
    args: { vmId: idOf("web"), volumeId: idOf("data"), flushConfirmed: true },
  },
  SecurityGroup: {
    title: "A group that admits HTTPS",
    name: "front",
    args: { rulesMode: "shared", rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" }] },
  },
  SecurityGroupRule: {
    title: "A rule beside those of its group",
    after: ["SecurityGroup"],
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

const isReference = (value) => typeof value === "object" && "idOf" in value && typeof value.idOf === "string";

function render(language, value, property, type, nameOf) {
  const inside = (one, of, place) => render(language, one, of, of === undefined ? place : nameOf(of, place), nameOf);
  const elementOf = (of, place) => (of?.properties === undefined ? "text" : { named: nameOf(of, place) });
  if (typeof value === "string") return language.text(value, property?.values === undefined ? undefined : type);
  if (typeof value === "number") return language.number(value);
  if (typeof value === "boolean") return language.boolean(value);
  if (isReference(value)) return language.idOf(value.idOf);
  if (isList(value)) {
    const place = property?.items?.type === "object" ? `${type}Item` : type;
    return language.list(
      value.map((item) => inside(item, property?.items, place)),
      elementOf(property?.items, place),
    );
  }
  const of = property?.mapOf;
  const fields = Object.entries(value).map(([key, item]) => [
    key,
    inside(item, of ?? property?.properties?.[key], of === undefined ? `${type}${capital(key)}` : `${type}Item`),
  ]);
  return of === undefined && property?.properties !== undefined
    ? language.record(fields, type)
    : language.map(fields, elementOf(of, `${type}Item`));
}

const isList = (value) => Array.isArray(value);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const quoted = (text) => JSON.stringify(text);
const pairs = (entries, write) => entries.map(([key, value]) => write(key, value)).join(", ");

const typescript = {
  text: quoted,
  number: String,
  boolean: String,
  idOf: (name) => `${name}.id`,
  list: (items) => `[${items.join(", ")}]`,
  map: (entries) => `{ ${pairs(entries, (key, value) => `${key}: ${value}`)} }`,
  record: (entries) => `{ ${pairs(entries, (key, value) => `${key}: ${value}`)} }`,
  program: (resources) =>
    ['import * as cloud from "@reconcile-cloud/pulumi";\n']
      .concat(
        resources.map(({ type, name, fields }) =>
          [
            `const ${name} = new cloud.${type}("${name}", {`,
            ...fields.map(([key, value]) => `    ${key}: ${value},`),
            "});",
          ].join("\n"),
        ),
      )
      .join("\n"),
  call: (name, wanted, part) =>
    `import * as cloud from "@reconcile-cloud/pulumi";\n\nconst found = cloud.${name}Output({ name: "${wanted}" });\nexport const ${part} = found.${part};`,
};

const python = {
  text: quoted,
  number: String,
  boolean: (value) => (value ? "True" : "False"),
  idOf: (name) => `${name}.id`,
  list: (items) => `[${items.join(", ")}]`,
  map: (entries) => `{${pairs(entries, (key, value) => `"${key}": ${value}`)}}`,
  record: (entries) => `{${pairs(entries, (key, value) => `"${snake(key)}": ${value}`)}}`,
  program: (resources) =>
    ["import pulumi_reconcile_cloud as cloud\n"]
      .concat(
        resources.map(({ type, name, fields }) =>
          [
            `${name} = cloud.${type}("${name}",`,
            ...fields.map(([key, value]) => `    ${snake(key)}=${value},`),
            ")",
          ].join("\n"),
        ),
      )
      .join("\n"),
  call: (name, wanted, part) =>
    `import pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.${snake(name)}_output(name="${wanted}")\npulumi.export("${part}", found.${part})`,
};

const goType = (of, shape) => (of === "text" ? `pulumi.String${shape}` : `reconcilecloud.${of.named}${shape}`);
const goProgram = (body) =>
  [
    "package main\n",
    "import (",
    '\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi"',
    '\t"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud"',
    ")\n",
    "func main() {",
    "\tpulumi.Run(func(ctx *pulumi.Context) error {",
    ...body.map((line) => `\t\t${line}`),
    "\t\treturn nil",
    "\t})",
    "}",
  ].join("\n");
/** Where a resource has the name behind `get`, Go's own getter of resources is called so, and the function `Lookup`. */
const goFunction = (name) => {
  const what = name.slice("get".length);
  return Object.hasOwn(examples, what) ? `Lookup${what}` : capital(name);
};
const go = {
  text: (value, enumName) =>
    enumName === undefined ? `pulumi.String("${value}")` : `reconcilecloud.${enumName}("${value}")`,
  number: (value) => `pulumi.Int(${value})`,
  boolean: (value) => `pulumi.Bool(${value})`,
  idOf: (name) => `${name}.ID()`,
  list: (items, of) => `${goType(of, "Array")}{${items.join(", ")}}`,
  map: (entries, of) => `${goType(of, "Map")}{${pairs(entries, (key, value) => `"${key}": ${value}`)}}`,
  record: (entries, type) =>
    `&reconcilecloud.${type}Args{${pairs(entries, (key, value) => `${capital(key)}: ${value}`)}}`,
  program: (resources) =>
    goProgram(
      resources.flatMap(({ type, name, fields, isNamed }, index) => [
        `${isNamed ? name : "_"}, err ${isNamed || index === 0 ? ":=" : "="} reconcilecloud.New${type}(ctx, "${name}", &reconcilecloud.${type}Args{`,
        ...fields.map(([key, value]) => `\t${capital(key)}: ${value},`),
        "})",
        ...["if err != nil {", "\treturn err", "}"],
      ]),
    ),
  call: (name, wanted, part) => {
    const called = goFunction(name);
    return goProgram([
      `found := reconcilecloud.${called}Output(ctx, reconcilecloud.${called}OutputArgs{Name: pulumi.String("${wanted}")})`,
      `ctx.Export("${part}", found.${capital(part)}())`,
    ]);
  },
};

const csharp = {
  text: (value, enumName) => (enumName === undefined ? quoted(value) : `Cloud.${enumName}.${capital(value)}`),
  number: String,
  boolean: String,
  idOf: (name) => `${name}.Id`,
  list: (items) => `new[] { ${items.join(", ")} }`,
  map: (entries, of) => {
    const type = of === "text" ? "InputMap<string>" : `InputMap<Cloud.Inputs.${of.named}Args>`;
    return `new ${type} { ${pairs(entries, (key, value) => `["${key}"] = ${value}`)} }`;
  },
  record: (entries, type) =>
    `new Cloud.Inputs.${type}Args { ${pairs(entries, (key, value) => `${capital(key)} = ${value}`)} }`,
  program: (resources) =>
    [
      ...[
        "using Pulumi;",
        "using Cloud = ReconcileCloud.ReconcileCloud;\n",
        "return await Deployment.RunAsync(() =>",
        "{",
      ],
      ...resources.flatMap(({ type, name, fields }) => [
        `    var ${name} = new Cloud.${type}("${name}", new()`,
        "    {",
        ...fields.map(([key, value]) => `        ${capital(key)} = ${value},`),
        "    });",
      ]),
      "});",
    ].join("\n"),
  call: (name, wanted, part) =>
    [
      ...["using System.Collections.Generic;", "using Pulumi;", "using Cloud = ReconcileCloud.ReconcileCloud;\n"],
      ...["return await Deployment.RunAsync(() =>", "{"],
      `    var found = Cloud.${capital(name)}.Invoke(new() { Name = "${wanted}" });`,
      `    return new Dictionary<string, object?> { ["${part}"] = found.Apply(one => one.${capital(part)}) };`,
      "});",
    ].join("\n"),
};

const javaProgram = (body) =>
  [
    ...["import com.pulumi.Pulumi;", "import cloud.reconcile.reconcilecloud.*;"],
    ...["import cloud.reconcile.reconcilecloud.enums.*;", "import cloud.reconcile.reconcilecloud.inputs.*;"],
    ...["import java.util.Map;\n", "public class App {", "    public static void main(String[] args) {"],
    "        Pulumi.run(ctx -> {",
    ...body.map((line) => `            ${line}`),
    ...["        });", "    }", "}"],
  ].join("\n");
const builder = (type, entries) =>
  `${type}Args.builder()${entries.map(([key, value]) => `.${key}(${value})`).join("")}.build()`;
const java = {
  text: (value, enumName) => (enumName === undefined ? quoted(value) : `${enumName}.${capital(value)}`),
  number: String,
  boolean: String,
  idOf: (name) => `${name}.id()`,
  list: (items) => items.join(", "),
  map: (entries) => `Map.of(${pairs(entries, (key, value) => `"${key}", ${value}`)})`,
  record: (entries, type) => builder(type, entries),
  program: (resources) =>
    javaProgram(
      resources.flatMap(({ type, name, fields }) => [
        `var ${name} = new ${type}("${name}", ${type}Args.builder()`,
        ...fields.map(([key, value]) => `    .${key}(${value})`),
        "    .build());",
      ]),
    ),
  call: (name, wanted, part) =>
    javaProgram([
      `var found = ReconcilecloudFunctions.${name}(${capital(name)}Args.builder().name("${wanted}").build());`,
      `ctx.export("${part}", found.applyValue(one -> one.${part}()));`,
    ]),
};

const yaml = {
  text: quoted,
  number: String,
  boolean: String,
  idOf: (name) => quoted(`\${${name}.id}`),
  list: (items) => `[${items.join(", ")}]`,
  map: (entries) => `{ ${pairs(entries, (key, value) => `${key}: ${value}`)} }`,
  record: (entries) => `{ ${pairs(entries, (key, value) => `${key}: ${value}`)} }`,
  program: (resources) =>
    [
      "resources:",
      ...resources.flatMap(({ type, name, fields }) => [
        ...[`  ${name}:`, `    type: reconcile-cloud:${type}`, "    properties:"],
        ...fields.map(([key, value]) => `      ${key}: ${value}`),
      ]),
    ].join("\n"),
  call: (name, wanted, part) =>
    [
      ...["variables:", "  found:", "    fn::invoke:", `      function: reconcile-cloud:${name}`],
      ...["      arguments:", `        name: "${wanted}"`, "outputs:", `  ${part}: \${found.${part}}`],
    ].join("\n"),
};

const languages = { typescript, python, go, csharp, java, yaml };

const section = (title, program) =>
  ["{{% examples %}}", "## Example Usage", "{{% example %}}", `### ${title}`, ""]
    .concat(Object.entries(languages).map(([name, language]) => `\`\`\`${name}\n${program(language)}\n\`\`\``))
    .concat("{{% /example %}}", "{{% /examples %}}")
    .join("\n");

export function exampleOf(type, inputsOf, nameOf) {
  const example = examples[type];
  if (example === undefined) return "";
  const all = [...(example.after ?? []), type];
  return section(example.title, (language) =>
    language.program(
      all.flatMap((one) => {
        const { name, args } = examples[one] ?? example;
        const inputs = inputsOf(one);
        const fields = Object.entries(args).map(([key, value]) => {
          const property = inputs[key];
          const place = `${one}${capital(key)}`;
          return [
            key,
            render(language, value, property, property === undefined ? place : nameOf(property, place), nameOf),
          ];
        });
        return [
          {
            type: one,
            name,
            fields,
            isNamed: one !== type && JSON.stringify(example.args).includes(`"idOf":"${name}"`),
          },
        ];
      }),
    ),
  );
}

const looked = {
  ...{ getFlavor: "m1.small", getImage: "ubuntu-24.04", getRegion: "in-west-1" },
  ...{ getVm: "web", getVolume: "data", getSecurityGroup: "front" },
};

const listed = {
  ...{ getFlavors: "m1.*", getImages: "ubuntu-*", getRegions: "in-*" },
  ...{ getVms: "web-*", getVolumes: "data-*", getSecurityGroups: "web-*" },
};

/** An example of the look-up: `getVm` looks up the VM with that name, `getVms` all whose names fit. */
export function lookupExampleOf(name) {
  const [one, some] = [looked[name], listed[name]];
  if (one !== undefined) return section("By its name", (language) => language.call(name, one, "id"));
  return some === undefined ? "" : section("By a pattern", (language) => language.call(name, some, "ids"));
}
