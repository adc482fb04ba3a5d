// Whether an applied configuration fits the schema it is merged by: unknown fields, elements that cannot be told apart.
import { isObject, type JsonObject, objectAt } from "../json.ts";
import { StatusError } from "../server/status-error.ts";
import { fieldOf, isAtomicList, type MergeSchema, plain } from "./merge-schema.ts";
import { itemElement, MisfitError, shownElement } from "./path-element.ts";

/** @throws StatusError 500, as the real one has it */
export function checkConfig(config: JsonObject, schema: MergeSchema): void {
  const problems = problemsOf(config, schema, "");
  if (problems.length === 0) return;
  const { namespace = "", name = "" } = objectAt(config, "metadata");
  const [group, version] = `/${config.apiVersion}`.split("/").slice(-2);
  const what = `${namespace}/${name}; ${group}/${version}, Kind=${config.kind}`;
  const found = problems.length === 1 ? problems[0] : ["errors:", ...problems.map((each) => `  ${each}`)].join("\n");
  throw new StatusError({ code: 500, reason: "", message: `failed to create typed patch object (${what}): ${found}` });
}

function problemsOf(value: unknown, schema: MergeSchema, path: string): readonly string[] {
  if (Array.isArray(value)) return listProblems(value, schema, path);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const field = fieldOf(schema, name);
    if (field === undefined) return [`${path}.${name}: field not declared in schema`];
    return problemsOf(child, field.schema, `${path}.${name}`);
  });
}

function listProblems(list: readonly unknown[], schema: MergeSchema, path: string): readonly string[] {
  const seen = new Set<string>();
  return list.flatMap((item, at) => {
    if (isAtomicList(schema)) return problemsOf(item, schema.items ?? plain, `${path}[${at}]`);
    const element = elementOf(item, schema);
    if (element instanceof MisfitError) return [`${path}: element ${at}: ${element.message}`];
    const shown = shownElement(element);
    const twice = seen.has(element) ? [`${path}: duplicate entries for key ${shown}`] : [];
    seen.add(element);
    return [...twice, ...problemsOf(item, schema.items ?? plain, path + shown)];
  });
}

function elementOf(item: unknown, schema: MergeSchema): string | MisfitError {
  try {
    return itemElement(item, schema);
  } catch (error) {
    if (error instanceof MisfitError) return error;
    throw error;
  }
}
