import { formatTime } from "@memhog/runtime/objects";
import { expect, it } from "vitest";
import { nextTime, parseSchedule, ScheduleError } from "./cron.ts";

/** A Thursday. */
const now = "2026-01-01T10:07:30Z";
const next = (schedule: string, after = now, timeZone?: string) => {
  const time = nextTime(parseSchedule(schedule), Date.parse(after), timeZone);
  return time === undefined ? "never" : formatTime(time);
};

const cases = [
  { name: "every minute", next: next("* * * * *"), time: "2026-01-01T10:08:00Z" },
  { name: "not the current minute", next: next("* * * * *", "2026-01-01T10:08:00Z"), time: "2026-01-01T10:09:00Z" },
  { name: "every five minutes", next: next("*/5 * * * *"), time: "2026-01-01T10:10:00Z" },
  { name: "steps from minute five", next: next("5/20 * * * *"), time: "2026-01-01T10:25:00Z" },
  { name: "a list", next: next("3,33 * * * *"), time: "2026-01-01T10:33:00Z" },
  { name: "an hour that has passed today", next: next("0 9 * * *"), time: "2026-01-02T09:00:00Z" },
  { name: "a range of hours", next: next("0 12-14 * * *"), time: "2026-01-01T12:00:00Z" },
  { name: "weekdays by name", next: next("0 0 * * mon-fri", "2026-01-02T00:00:00Z"), time: "2026-01-05T00:00:00Z" },
  { name: "months by name", next: next("0 0 1 mar *"), time: "2026-03-01T00:00:00Z" },
  { name: "either day if both are restricted", next: next("0 0 13 * sun"), time: "2026-01-04T00:00:00Z" },
  { name: "a leap day", next: next("0 0 29 2 *"), time: "2028-02-29T00:00:00Z" },
  { name: "a day that never comes", next: next("0 0 31 2 *"), time: "never" },
  { name: "a macro", next: next("@weekly"), time: "2026-01-04T00:00:00Z" },
  { name: "an interval after the last run", next: next("@every 1h30m"), time: "2026-01-01T11:37:30Z" },
  { name: "an interval of at least a second", next: next("@every 10ms"), time: "2026-01-01T10:07:31Z" },
  { name: "another time zone", next: next("0 9 * * *", now, "America/New_York"), time: "2026-01-01T14:00:00Z" },
  {
    name: "another time zone in summer",
    next: next("0 9 * * *", "2026-07-01T00:00:00Z", "America/New_York"),
    time: "2026-07-01T13:00:00Z",
  },
];
it.each(cases)("$name", ({ next, time }) => expect(next).toBe(time));

it.each(["rejects %j", "* * * *", "60 * * * *", "* * 0 * *", "x * * * *", "5-1 * * * *", "*/0 * * * *"])("refuses %j", (text) => {
  expect(() => parseSchedule(text)).toThrow(ScheduleError);
});
