// When a CronJob's schedule is a schedule. Meaning it is the controller's business (controllers/).
import { DurationError, parseDuration } from "@memhog/runtime";
import { type FieldError, invalid, required } from "../server/field-error.ts";

const macros = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;
const names = /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)\b/gi;

/** What is wrong with a schedule, in the words of the parser that the controller uses. */
export function cronErrors(field: string, schedule: unknown): readonly FieldError[] {
  if (typeof schedule !== "string" || schedule === "") return [required(field)];
  if (macros.test(schedule)) return [];
  if (schedule.startsWith("@")) return descriptorErrors(field, schedule);
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== 5) {
    return [invalid(field, schedule, `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`)];
  }
  const problem = parts.map((part, at) => partProblem(part, ranges[at] ?? [0, 0])).find((each) => each !== undefined);
  return problem === undefined ? [] : [invalid(field, schedule, problem)];
}

function descriptorErrors(field: string, schedule: string): readonly FieldError[] {
  if (!schedule.startsWith("@every ")) return [invalid(field, schedule, `unrecognized descriptor: ${schedule}`)];
  try {
    parseDuration(schedule.slice("@every ".length));
    return [];
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    const why = `time: invalid duration ${JSON.stringify(schedule.slice("@every ".length))}`;
    return [invalid(field, schedule, `failed to parse duration ${schedule}: ${why}`)];
  }
}

function partProblem(part: string, [low, high]: readonly [number, number]): string | undefined {
  const numbers = part.replace(names, "1").split(",");
  for (const each of numbers) {
    const found = /^(?:\*|\?|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(each);
    if (found === null) return `failed to parse int from ${each}: strconv.Atoi: parsing "${each}": invalid syntax`;
    const [, from, to] = found;
    if (from !== undefined && Number(from) < low) return `beginning of range (${from}) below minimum (${low}): ${each}`;
    if (Number(to ?? from ?? low) > high) return `end of range (${to ?? from}) above maximum (${high}): ${each}`;
  }
  return undefined;
}
