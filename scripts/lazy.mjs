// Makes the requires of the compiled files lazy: a module is evaluated when one of its exports is used for the first
// time, so that a command loads only what it uses although the sources import plainly. It relies on how TypeScript
// writes an import (`const name_1 = require("…")`, used only as `name_1.x`). A file that was changed before is left as
// it is.
const imported = /^(?:const|var) (\w+_\d+) = ((?:__import(?:Default|Star)\()?require\("[^"]+"\)\)?);$/gm;

export function lazily(code) {
  const names = [];
  const head = code.replace(imported, (_line, name, load) => {
    names.push(name);
    return `let ${name}$; const ${name} = () => (${name}$ ??= ${load});`;
  });
  if (names.length === 0) return code;
  const name = `\\b(${names.join("|")})`;
  return (
    head
      // `new name().X()` would make a new `name`.
      .replace(new RegExp(`\\bnew ${name}\\.(\\w+(?:\\.\\w+)*)`, "g"), "new ($1().$2)")
      .replace(new RegExp(`${name}\\.`, "g"), "$1().")
      // For `import { x }` Node finds the exported names by reading the text, and takes back those whose getter it does
      // not know. TypeScript names all of them above (`exports.x = void 0`), so the getter must not be recognised at
      // all.
      .replace(/^Object\.defineProperty\(exports, (?!"__esModule")/gm, "Reflect.defineProperty(exports, ")
  );
}
