// Cron schedules: "*/5 8-18 * * mon-fri" → the next time after a given one.
//
//     minute  hour  day of month  month  day of week      lists a,b · ranges a-b · steps */n, a-b/n · names
//     @hourly @daily @weekly …  @every 90m                counted from the last run, not from the full hour
//
// If day of month and day of week are both restricted, either one is enough, as in cron. Skipped and repeated hours at the change
// to and from daylight saving time get no special treatment.

import { parseDuration } from "@memhog/runtime/objects";

/** A parsed schedule. */
export type Schedule = Calendar | Pause;

/** "@every 90m": this long after the last run. */
interface Pause {
  readonly everyMs: number;
}

interface Calendar {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** If day of month and day of week are both restricted, either is enough; otherwise both must match. */
  readonly eitherDay: boolean;
}

/** The text is not a schedule. */
export class ScheduleError extends Error {
  readonly code = "SCHEDULE_INVALID";
  override readonly name = "ScheduleError";
}

const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** @throws ScheduleError, DurationError */
export function parseSchedule(text: string): Schedule {
  const [, every] = /^@every (.+)$/.exec(text.trim()) ?? [];
  // Whole seconds, at least one.
  if (every !== undefined) return { everyMs: Math.max(1, Math.floor(parseDuration(every) / 1_000)) * 1_000 };
  const fields = (macros[text.trim()] ?? text).trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || !minute || !hour || !day || !month || !weekday) {
    throw new ScheduleError(`expected a schedule of exactly 5 fields, found ${fields.length}: ${text}`);
  }
  return {
    minutes: parseField(minute, 0, 59),
    hours: parseField(hour, 0, 23),
    days: parseField(day, 1, 31),
    months: parseField(month, 1, 12, monthNames),
    weekdays: parseField(weekday, 0, 6, weekdayNames),
    eitherDay: !/^[*?]/.test(day) && !/^[*?]/.test(weekday),
  };
}

function parseField(field: string, low: number, high: number, names: readonly string[] = []): ReadonlySet<number> {
  return new Set(field.split(",").flatMap((part) => parsePart(part, low, high, names)));
}

function parsePart(part: string, low: number, high: number, names: readonly string[]): readonly number[] {
  const found = /^(?:[*?]|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part);
  if (found === null) throw new ScheduleError(`expected a number, a range or a step, found ${part}`);
  const [, from, to, step = "1"] = found;
  const start = from === undefined ? low : numberOf(from, low, names);
  // "5/15" means "5-59/15".
  const end = to !== undefined ? numberOf(to, low, names) : from === undefined || found[3] !== undefined ? high : start;
  if (!(start >= low && end <= high && start <= end && Number(step) > 0)) {
    throw new ScheduleError(`expected values from ${low} to ${high}, found ${part}`);
  }
  return Array.from({ length: Math.floor((end - start) / Number(step)) + 1 }, (_, at) => start + at * Number(step));
}

function numberOf(text: string, low: number, names: readonly string[]): number {
  const named = names.indexOf(text.toLowerCase());
  return named === -1 ? Number(text) : named + low;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** A leap day on a given weekday is years away. A schedule without a match within this time has none. */
const horizonMs = 40 * 366 * dayMs;

/** The next time after this one, in milliseconds since 1970; undefined if there is none. */
export function nextTime(schedule: Schedule, afterMs: number, timeZone = "UTC"): number | undefined {
  if ("everyMs" in schedule) return Math.floor(afterMs / 1_000) * 1_000 + schedule.everyMs;
  const offset = offsetOf(timeZone);
  let wall = Math.floor((afterMs + offset(afterMs)) / minuteMs) * minuteMs + minuteMs;
  for (const end = wall + horizonMs; wall < end; ) {
    const date = new Date(wall);
    if (!schedule.months.has(date.getUTCMonth() + 1)) wall = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    else if (!isDay(schedule, date)) wall = (Math.floor(wall / dayMs) + 1) * dayMs;
    else if (!schedule.hours.has(date.getUTCHours())) wall = (Math.floor(wall / (60 * minuteMs)) + 1) * 60 * minuteMs;
    else if (!schedule.minutes.has(date.getUTCMinutes())) wall += minuteMs;
    else return wall - offset(wall - offset(wall));
  }
  return undefined;
}

function isDay({ days, weekdays, eitherDay }: Calendar, date: Date): boolean {
  const [day, weekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return eitherDay ? day || weekday : day && weekday;
}

/** The offset of the time zone from UTC at a given time. */
function offsetOf(timeZone: string): (atMs: number) => number {
  if (timeZone === "UTC") return () => 0;
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric" },
  });
  return (atMs) => {
    const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 1970, month = 1, day = 1, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(atMs / minuteMs) * minuteMs;
  };
}
