import { Job } from "@memhog/runtime";
import { CronJob } from "@memhog/runtime/kinds";
import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideCronJob } from "./cron-jobs.ts";

/** Every ten minutes; created at midnight. */
const cronJob = (spec: object = {}, status: object = {}) =>
  anObject(CronJob, { spec: { schedule: "*/10 * * * *", ...spec }, status } as never);
const running = anObject(Job, { metadata: { name: "running" } });
const ended = (name: string, type: string, startTime: string) =>
  anObject(Job, { metadata: { name }, status: { startTime, conditions: [{ type, status: "True" }] } } as never);
const at = (time: string) => Date.parse(`2026-01-01T${time}Z`);
const startOf = (of: ReturnType<typeof cronJob>, time: string, jobs = [running].slice(1)) => {
  const { startAt } = decideCronJob(of, jobs, at(time));
  return startAt === undefined ? "nothing" : new Date(startAt).toISOString().slice(11, 16);
};

describe("a CronJob starts a Job", () => {
  const cases = [
    { name: "not before its time", start: startOf(cronJob(), "00:09:59"), decision: "nothing" },
    { name: "at its time", start: startOf(cronJob(), "00:10:00"), decision: "00:10" },
    { name: "once", start: startOf(cronJob({}, { lastScheduleTime: "2026-01-01T00:10:00Z" }), "00:15:00"), decision: "nothing" },
    { name: "for the last of several missed times", start: startOf(cronJob(), "00:35:00"), decision: "00:30" },
    {
      name: "not after startingDeadlineSeconds",
      start: startOf(cronJob({ startingDeadlineSeconds: 60 }), "00:15:00"),
      decision: "nothing",
    },
    { name: "not while suspended", start: startOf(cronJob({ suspend: true }), "00:10:00"), decision: "nothing" },
    { name: "beside a running one", start: startOf(cronJob(), "00:10:00", [running]), decision: "00:10" },
    {
      name: "not beside a running one with concurrencyPolicy Forbid",
      start: startOf(cronJob({ concurrencyPolicy: "Forbid" }), "00:10:00", [running]),
      decision: "nothing",
    },
    {
      name: "in place of a running one with concurrencyPolicy Replace",
      start: startOf(cronJob({ concurrencyPolicy: "Replace" }), "00:10:00", [running]),
      decision: "00:10",
    },
  ];
  it.each(cases)("$name", ({ start, decision }) => expect(start).toBe(decision));
});

it("a CronJob with concurrencyPolicy Replace deletes the running Job", () => {
  expect(decideCronJob(cronJob({ concurrencyPolicy: "Replace" }), [running], at("00:10:00")).remove).toEqual([running]);
});

it("a CronJob is requeued for its next scheduled time", () => {
  expect(decideCronJob(cronJob(), [], at("00:10:30")).nextInMs).toBe(570_000);
});

it("a CronJob keeps a limited history of succeeded and failed Jobs", () => {
  const good = ["1", "2", "3"].map((name) => ended(`good-${name}`, "Complete", `2026-01-01T00:0${name}:00Z`));
  const bad = ["1", "2"].map((name) => ended(`bad-${name}`, "Failed", `2026-01-01T00:0${name}:00Z`));
  const { remove } = decideCronJob(
    cronJob({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 }),
    [...good, ...bad],
    at("00:05:00"),
  );
  expect(remove.map(({ metadata }) => metadata.name)).toEqual(["good-1", "bad-1"]);
});
