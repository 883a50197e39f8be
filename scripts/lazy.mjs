// Makes the requires of the compiled files lazy: a module is evaluated when one of its exports is used for the first
// time, so that a command loads only what it uses although the sources import plainly. TypeScript writes an import as
// `const name_1 = require("…")` and uses it as `name_1.x`; the tree of the file tells these from texts and comments that
// look alike. A file that was changed before is left as it is.
import ts from "typescript";

const mayImport = /^(?:const|var) \w+_\d+ = (?:__import(?:Default|Star)\()?require\(/m;
const madeUp = /^\w+_\d+$/;
const load = /^(?:__import(?:Default|Star)\()?require\("[^"]+"\)\)?$/;

/** `name_1` and what loads it, where a statement is such an import. */
function importIn(statement) {
  if (!ts.isVariableStatement(statement)) return undefined;
  const [one, another] = statement.declarationList.declarations;
  if (another !== undefined || one.initializer === undefined || !ts.isIdentifier(one.name)) return undefined;
  const loads = one.initializer.getText();
  return madeUp.test(one.name.text) && load.test(loads) ? { name: one.name.text, loads } : undefined;
}

export function lazily(code) {
  // Most calls are about files that an earlier build changed, and a tree costs more than a look.
  if (!mayImport.test(code)) return code;
  const source = ts.createSourceFile("compiled.js", code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const names = new Set();
  const edits = [];
  for (const statement of source.statements) {
    const found = importIn(statement);
    if (found === undefined) continue;
    const { name, loads } = found;
    names.add(name);
    edits.push([statement.getStart(), statement.end, `let ${name}$; const ${name} = () => (${name}$ ??= ${loads});`]);
  }
  if (names.size === 0) return code;
  const visit = (node) => {
    if (importIn(node) !== undefined && node.parent === source) return;
    if (ts.isIdentifier(node) && names.has(node.text) && isUse(node)) {
      edits.push([node.end, node.end, "()"]);
      const made = classMade(node);
      if (made !== undefined) edits.push([made.getStart(), made.getStart(), "("], [made.end, made.end, ")"]);
    }
    // For `import { x }` Node finds the exported names by reading the text, and takes back those whose getter it does
    // not know. TypeScript names all of them above (`exports.x = void 0`), so the getter must not be recognised at all.
    if (isGetter(node)) edits.push([node.getStart(), node.getStart() + "Object".length, "Reflect"]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return edits
    .map((edit, index) => [...edit, index])
    .sort(([a, , , i], [b, , , j]) => b - a || j - i)
    .reduce((text, [from, to, by]) => text.slice(0, from) + by + text.slice(to), code);
}

/** An object's own key or a property of that name is no use of the import. */
const isUse = ({ parent, ...node }) =>
  ts.isPropertyAccessExpression(parent) && parent.expression.pos === node.pos && parent.expression.end === node.end;

/** `new name().X()` would make a new `name`: the class in a `new` is put into brackets. */
function classMade(node) {
  let access = node.parent;
  while (ts.isPropertyAccessExpression(access.parent) && access.parent.expression === access) access = access.parent;
  return ts.isNewExpression(access.parent) && access.parent.expression === access ? access : undefined;
}

const isGetter = (node) =>
  ts.isCallExpression(node) &&
  node.expression.getText() === "Object.defineProperty" &&
  node.arguments[0]?.getText() === "exports" &&
  node.arguments[1]?.getText() !== '"__esModule"' &&
  ts.isExpressionStatement(node.parent) &&
  ts.isSourceFile(node.parent.parent);
