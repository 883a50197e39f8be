/** The questions of a dialect: which of them a look at the service answers. */
/** A person's own questions: those that no look at the service answers. */
export const ownQuestions = (todo: unknown): readonly string[] =>
  (Array.isArray(todo) ? todo : [todo]).filter(
    (line): line is string =>
      typeof line === "string" &&
      !/^"?((operations|records|states|rules|errors)\.|(vm|volume|group|flavor|image|region)\.|no VM was made|nothing new was made|a rule could not be made|the (VM|volume|trial) )/.test(
        line,
      ),
  );
