import { describe, expect, it } from "vitest";
import {
  AnswerError,
  BrokenStreamError,
  ForbiddenError,
  IdleWatchError,
  NotFoundError,
  ServerTimeoutError,
  TimeoutError,
  TooManyRequestsError,
  TransportError,
} from "../client/errors.ts";
import { afterSession, type NextSession, RestoredError, type SessionEnd } from "./next-session.ts";
import { refusal } from "./scripted-api.fixture.ts";

const said = { attempt: "watch Pod", reason: "", message: "no" };
/** A watch that had been open for a minute; rows show what differs. */
const watching: SessionEnd = { lastedMs: 60_000, received: true, resumed: false, openMs: 60_000, silent: false };
/** A listing that had just begun. */
const listing: SessionEnd = { lastedMs: 5, received: false, resumed: false, openMs: 0, silent: false };
const idle = new IdleWatchError("idle");
const unanswered = new TimeoutError("no answer", { outcome: "unknown" });

const cases: { name: string; end: SessionEnd; expected: NextSession }[] = [
  { name: "an ordinary end is resumed at once", end: watching, expected: { from: "resume", when: "at once" } },
  { name: "an end within a second is a failure", end: { ...watching, lastedMs: 5 }, expected: { from: "resume", when: "later" } },
  {
    name: "silence after something was received is resumed at once",
    end: { ...watching, error: idle },
    expected: { from: "resume", when: "at once" },
  },
  {
    name: "silence from the beginning is resumed at once: it was wait enough",
    end: { ...watching, received: false, error: idle },
    expected: { from: "resume", when: "at once" },
  },
  {
    name: "silence from the beginning, beyond the end that was asked for, is no quiet kind: it is listed",
    end: { ...watching, received: false, silent: true, error: idle },
    expected: { from: "list", when: "at once" },
  },
  {
    name: "a watch that was never accepted is resumed at once: nothing was promised, and it was wait enough",
    end: { lastedMs: 10_000, received: false, resumed: true, openMs: 0, silent: false, error: unanswered },
    expected: { from: "resume", when: "at once" },
  },
  {
    name: "silence of less than a second is a failure, whatever deadline made it so",
    end: { ...watching, lastedMs: 5, error: idle },
    expected: { from: "resume", when: "later" },
  },
  {
    name: "a cut line that had worked is resumed at once",
    end: { ...watching, error: new BrokenStreamError("cut") },
    expected: { from: "resume", when: "at once" },
  },
  {
    name: "a line that is cut again within a second is given time",
    end: { ...watching, lastedMs: 5, openMs: 5, error: new BrokenStreamError("cut") },
    expected: { from: "resume", when: "later" },
  },
  {
    name: "a line that is cut soon, and before anything was received, is given time, but no more than it had lasted",
    end: { ...watching, received: false, openMs: 9_000, error: new BrokenStreamError("cut") },
    expected: { from: "resume", when: "later", atMostMs: 9_000 },
  },
  {
    name: "a line that is cut at once is given all the time that the back-off says",
    end: { ...watching, received: false, openMs: 900, error: new BrokenStreamError("cut") },
    expected: { from: "resume", when: "later" },
  },
  {
    name: "a quiet line that a load balancer cuts is resumed at once",
    end: { ...watching, received: false, openMs: 30_000, error: new BrokenStreamError("cut") },
    expected: { from: "resume", when: "at once" },
  },
  {
    name: "history that was lost while the server was away is listed again at once",
    end: { ...watching, resumed: true, lastedMs: 5, received: false, openMs: 5, error: refusal(410) },
    expected: { from: "list", when: "at once" },
  },
  {
    name: "history that is lost right after a list is listed again later",
    end: { ...watching, error: refusal(410) },
    expected: { from: "list", when: "later" },
  },
  {
    name: "a kind that is gone is listed again",
    end: { ...watching, error: new NotFoundError({ ...said, status: 404 }) },
    expected: { from: "list", when: "later" },
  },
  {
    name: "a server older than our version is listed again",
    end: {
      ...watching,
      error: new ServerTimeoutError({ ...said, status: 504, details: { causes: [{ reason: "ResourceVersionTooLarge" }] } }),
    },
    expected: { from: "list", when: "later" },
  },
  {
    name: "a server whose data are older than what the cache has seen is listed at once: it is there, and nothing else is wrong with it",
    end: { ...watching, lastedMs: 5, openMs: 5, error: new RestoredError("300", "200") },
    expected: { from: "list", when: "at once" },
  },
  {
    name: "a slow server is resumed",
    end: { ...watching, error: new ServerTimeoutError({ ...said, status: 504 }) },
    expected: { from: "resume", when: "later" },
  },
  {
    name: "A1: a right that was taken away is waited for",
    end: { ...watching, error: new ForbiddenError({ ...said, status: 403 }) },
    expected: { from: "resume", when: "later" },
  },
  {
    name: "A2: a busy server gets the patience it asks for",
    end: { ...watching, error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 7 }) },
    expected: { from: "resume", when: "later", atLeastMs: 7_000 },
  },
  {
    name: "W3: a server that asks for a day gets half a minute",
    end: { ...watching, error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 86_400 }) },
    expected: { from: "resume", when: "later", atLeastMs: 30_000 },
  },
  {
    name: "a server that cannot stream lists is asked for pages",
    end: { ...listing, listing: "stream", error: refusal(422) },
    expected: { from: "list", when: "at once", listBy: "pages" },
  },
  {
    name: "a server that does not know the question never ends its list: pages",
    end: { ...listing, lastedMs: 50_000, received: true, listing: "stream", error: idle },
    expected: { from: "list", when: "at once", listBy: "pages" },
  },
  {
    name: "a listing that broke begins again",
    end: { ...listing, received: true, listing: "stream", error: new BrokenStreamError("cut") },
    expected: { from: "list", when: "later" },
  },
  {
    name: "a scan that was cut on the way is streamed the next time, since an answer may be too large for a minute",
    end: { ...listing, lastedMs: 60_000, received: true, listing: "scan", error: new BrokenStreamError("cut") },
    expected: { from: "list", when: "later", listBy: "stream" },
  },
  {
    name: "a scan whose answer made no sense is streamed the next time",
    end: { ...listing, listing: "scan", error: new AnswerError("what?") },
    expected: { from: "list", when: "later", listBy: "stream" },
  },
  {
    name: "a scan that never began is tried again",
    end: { ...listing, listing: "scan", error: new TransportError("refused", { outcome: "not-sent" }) },
    expected: { from: "list", when: "later" },
  },
  {
    name: "a scan that was not answered is tried again at once: it was wait enough",
    end: { ...listing, lastedMs: 10_000, listing: "scan", error: unanswered },
    expected: { from: "list", when: "at once" },
  },
  {
    name: "a scan that fell silent on the way is streamed at once",
    end: { ...listing, lastedMs: 60_000, received: true, listing: "scan", error: idle },
    expected: { from: "list", when: "at once", listBy: "stream" },
  },
  {
    name: "A2: a scan of a busy server gets the patience it asks for",
    end: {
      ...listing,
      listing: "scan",
      error: new TooManyRequestsError({ ...said, status: 429, retryAfterSeconds: 7 }),
    },
    expected: { from: "list", when: "later", atLeastMs: 7_000 },
  },
  {
    name: "pages that expired on the way begin again",
    end: { ...listing, received: true, listing: "pages", error: refusal(410) },
    expected: { from: "list", when: "later" },
  },
];

describe("after a session", () => {
  it.each(cases)("$name", ({ end, expected }) => expect(afterSession(end)).toEqual(expected));
});
