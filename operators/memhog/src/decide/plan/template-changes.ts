// What a template must ask for so that every pod of this list has enough: per container the most, and never less than it asks for.
import { bytes, larger } from "../../model/bytes.ts";
import type { Change, Memory } from "../../model/record.ts";
import type { AppSeen, TemplateSeen } from "../../model/seen.ts";
import type { PodRaise } from "./raises.ts";
import { asksFor } from "./template.ts";

/** None where the template has it all, and its controller will bring it to the pods by itself. */
export function templateChanges(seen: AppSeen, raises: readonly PodRaise[]): readonly Change[] {
  const template = seen.template;
  if (template === undefined) return [];
  const all = raises.flatMap(({ changes }) => changes);
  const names = [...new Set(all.map(({ container }) => container))].filter((name) =>
    template.containers.some((c) => c.name === name),
  );
  const changes = names.map((name) =>
    merged(
      template,
      name,
      all.filter(({ container }) => container === name),
    ),
  );
  const done = changes.every((change) => asksFor(template, change));
  return done && (template.replacesPods || seen.app.kind === "CronJob") ? [] : changes;
}

function merged(template: TemplateSeen, container: string, changes: readonly Change[]): Change {
  const has = template.containers.find(({ name }) => name === container);
  const most = changes.map(({ to }) => to).reduce(most2);
  const capped = changes.find(({ cappedBy, to }) => cappedBy !== undefined && to.limit === most.limit)?.cappedBy;
  const from: Memory = {
    limit: has?.limit ?? changes[0]?.from.limit ?? bytes(0),
    request: has?.request ?? changes[0]?.from.request,
  };
  const to = has?.limit === undefined ? most : most2(most, { limit: has.limit, request: has.request });
  return { container, from, to, ...(capped === undefined ? {} : { cappedBy: capped }) };
}

function most2(a: Memory, b: Memory): Memory {
  const request = a.request === undefined || b.request === undefined ? (a.request ?? b.request) : larger(a.request, b.request);
  return { limit: larger(a.limit, b.limit), request };
}
