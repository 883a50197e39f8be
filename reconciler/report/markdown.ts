/** A plan as Markdown. */
import type { Plan } from "../core/plan/plan";
import { planText } from "./plan-text";
export const planMarkdown = (plan: Plan): string => `\`\`\`\n${planText(plan)}\`\`\`\n`;
