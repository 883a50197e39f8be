/** A file of tests leaves the environment and the folder of its process as it found them: others run in it afterwards. */
import { afterAll } from "vitest";

const own = process.env;
const environment = { ...own };
const folder = process.cwd();

afterAll(() => {
  process.env = own;
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
});
