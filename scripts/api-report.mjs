// Writes test/guard/public-api.txt: every declaration that a program can reach through the package's entry, as the
// compiler emits it. What is there is the surface of the package: a line that goes or changes is a change for its
// users, and is seen in a review. `--check` only says whether the file is up to date.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const report = join(root, "test/guard/public-api.txt");
const entry = "reconciler/index.ts";
const out = join(root, "node_modules/.cache/public-api");

mkdirSync(out, { recursive: true });
writeFileSync(
  join(out, "tsconfig.json"),
  JSON.stringify({
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      ...{ rootDir: root, outDir: join(out, "dist"), emitDeclarationOnly: true, composite: false },
      ...{ tsBuildInfoFile: join(out, "tsbuildinfo"), typeRoots: [join(root, "node_modules/@types")] },
    },
    files: [join(root, entry)],
    include: [],
    references: [],
  }),
);
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript-native/package.json")), "bin", "tsc");
execFileSync(process.execPath, [tsc, "-p", join(out, "tsconfig.json")], { stdio: "inherit", cwd: root });

/** One declaration file: what it declares, what it takes from others, and what it passes on. */
function readModule(file) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true);
  const declared = new Map();
  const imported = new Map();
  const passedOn = new Map();
  const targetOf = (specifier) => {
    const path = resolve(dirname(file), specifier);
    return [`${path}.d.ts`, join(path, "index.d.ts")].find((one) => existsSync(one));
  };
  for (const any of source.statements) {
    // Which of them it is decides what it has.
    const statement = /** @type {any} */ (any);
    const from = statement.moduleSpecifier?.text;
    if (ts.isImportDeclaration(statement) && from?.startsWith(".")) {
      const bindings = statement.importClause?.namedBindings;
      if (bindings !== undefined && ts.isNamedImports(bindings))
        for (const { name, propertyName } of bindings.elements)
          imported.set(name.text, { file: targetOf(from), name: (propertyName ?? name).text });
    } else if (
      ts.isExportDeclaration(statement) &&
      statement.exportClause !== undefined &&
      ts.isNamedExports(statement.exportClause)
    ) {
      for (const { name, propertyName } of statement.exportClause.elements)
        passedOn.set(name.text, {
          file: from === undefined ? undefined : targetOf(from),
          name: (propertyName ?? name).text,
        });
    } else {
      const names = ts.isVariableStatement(statement)
        ? statement.declarationList.declarations.map(({ name }) => name.getText())
        : statement.name === undefined
          ? []
          : [statement.name.text];
      for (const name of names) declared.set(name, [...(declared.get(name) ?? []), statement]);
    }
  }
  return { declared, imported, passedOn };
}

const modules = new Map();
const moduleOf = (file) => {
  if (!modules.has(file)) modules.set(file, readModule(file));
  return modules.get(file);
};

/** Where a name is declared, through whatever passes it on. */
function find(file, name) {
  const { declared, imported, passedOn } = moduleOf(file);
  if (declared.has(name)) return { file, name };
  const passed = passedOn.get(name);
  // `export { x }` passes on what is imported here.
  const next = passed?.file === undefined ? imported.get(passed?.name ?? name) : passed;
  return next?.file === undefined ? undefined : find(next.file, next.name);
}

const printer = ts.createPrinter({ removeComments: true });
const reached = new Map();

function reach(place) {
  const key = `${place.file}#${place.name}`;
  if (reached.has(key)) return;
  const statements = moduleOf(place.file).declared.get(place.name);
  const texts = statements.map((statement) =>
    printer
      .printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile())
      .replace(/^(export )?(declare )?/, ""),
  );
  reached.set(key, { ...place, texts });
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      const found = find(place.file, node.text);
      if (found !== undefined) reach(found);
    }
    ts.forEachChild(node, visit);
  };
  for (const statement of statements) visit(statement);
}

const entryFile = join(out, "dist", entry.replace(/\.ts$/, ".d.ts"));
const { declared, passedOn } = moduleOf(entryFile);
const names = [...declared.keys(), ...passedOn.keys()].sort();
for (const name of names) reach(find(entryFile, name));

const of = ({ file, name }) => `${relative(join(out, "dist"), file).replace(/\.d\.ts$/, "")}#${name}`;
const sections = [...reached.values()]
  .sort((a, b) => (of(a) < of(b) ? -1 : 1))
  .map((one) => `// ${of(one)}\n${one.texts.join("\n")}`);
const text = `// Made by scripts/api-report.mjs; \`npm run api\` writes it anew. ${names.length} exports reach ${reached.size} declarations.

exports: ${names.join(", ")}

${sections.join("\n\n")}
`;

if (!process.argv.includes("--check")) writeFileSync(report, text);
else if (!existsSync(report) || readFileSync(report, "utf8") !== text) {
  const before = existsSync(report) ? readFileSync(report, "utf8").split("\n") : [];
  const now = text.split("\n");
  console.error(
    "The public API is not what test/guard/public-api.txt says; where that is meant: npm run api, and a line in CHANGELOG.md.",
  );
  for (const line of before.filter((one) => !now.includes(one)).slice(0, 20)) console.error(`- ${line}`);
  for (const line of now.filter((one) => !before.includes(one)).slice(0, 20)) console.error(`+ ${line}`);
  process.exitCode = 1;
}
