/** What programs ask of the pages' server, and what the forms of the pages send: each needs a role. */
import { Hono } from "hono";
import { keyIn } from "../../core/text/objects";
import { may, roleNeeded } from "../access";
import { ActionRefused } from "../actions";
import { answerFor, personCommands, recordsSeenBy } from "../person";
import { planEvent, runEvent, stackLine } from "../views";
import { carryOutAct, formOf, type PagesSetting, refusedBy, type SaidWord, saidWords, typedIn } from "./acts";
import { doorTo, mayBeForged, visitorOf } from "./sign-in";

/** Stacks as data, and the commands of a person with the token's roles: what `reconcile fleet … --server` asks. */
export function apiRoutes(setting: PagesSetting): Hono {
  const { records, queue } = setting;
  const app = new Hono();
  app.get("/api/stacks", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    return context.json((await records.stacks()).filter(({ name }) => may(visitor, "see", name)).map(stackLine));
  });
  app.get("/api/stacks/:name", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    const name = context.req.param("name");
    const stack = may(visitor, "see", name) ? await records.stack(name) : undefined;
    if (stack === undefined) return context.json({ error: `no stack ${name}` }, 404);
    const plan = await records.waitingPlan(name);
    return context.json({
      ...stackLine(stack),
      waiting_plan: plan === undefined ? null : planEvent(plan),
      runs: (await records.runs(name, 30)).map(runEvent),
    });
  });

  app.post("/api/commands/:name", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    if (mayBeForged(context)) return context.text("the form came from another site\n", 403);
    const name = keyIn(personCommands, context.req.param("name"));
    if (name === undefined)
      return context.json({ error: "no such command", fix: "use the same version here and there" }, 404);
    const said: object[] = [];
    const print = (text: string): void => void said.push({ text });
    const says = {
      print,
      printLines: (lines: Iterable<string>) => print([...lines].join("\n")),
      event: (event: object) => void said.push({ event }),
    };
    try {
      const exitCode = await answerFor(visitor, { records, queue }, name, await typedIn(context), says);
      return context.json({ exit_code: exitCode, said });
    } catch (error) {
      if (!(error instanceof ActionRefused)) throw error;
      return context.json(
        { code: error.code, error: error.message, fix: error.fix },
        error.code === "fleet/role" ? 403 : 409,
      );
    }
  });
  return app;
}

/** What is done to a stack: by a form of its page, or by a program. */
export function actRoutes(setting: PagesSetting): Hono {
  const { records, queue } = setting;
  const app = new Hono();
  for (const act of ["run", "pause", "resume", "stop", "approve", "reject", "undo"] as const)
    for (const root of ["/stacks", "/api/stacks"] as const)
      app.post(`${root}/:name/${act}`, async (context) => {
        const name = context.req.param("name");
        const isApi = root === "/api/stacks";
        const answer = (word: SaidWord, said: string, code: 200 | 401 | 403 | 409) =>
          isApi
            ? context.json(code === 200 ? { done: said } : { error: said }, code)
            : context.redirect(`/stacks/${encodeURIComponent(name)}?said=${word}`);
        const visitor = await visitorOf(context, setting);
        if (visitor === undefined)
          return isApi
            ? answer("role", "no token", 401)
            : context.redirect(doorTo(`/stacks/${encodeURIComponent(name)}`));
        if (mayBeForged(context)) return context.text("the form came from another site\n", 403);
        if (!may(visitor, act, name))
          return answer("role", `${visitor.name} may not ${act} ${name}: that needs the role ${roleNeeded(act)}`, 403);
        try {
          const desk = { records: recordsSeenBy(records, visitor), queue, who: visitor.name };
          const word = await carryOutAct(desk, act, name, await formOf(context));
          return answer(word, `${name}: ${saidWords[word].text}`, 200);
        } catch (error) {
          if (!(error instanceof ActionRefused)) throw error;
          return answer(refusedBy[error.code] ?? "refused", `${error.message}; ${error.fix}`, 409);
        }
      });
  return app;
}
