// The string formats that the API server checks. Others may be written in a definition and are not looked at.
import { isIPv4, isIPv6 } from "node:net";

type Check = (text: string) => boolean;

const matching =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

/** "2026-01-02T03:04:05Z", fractions and offsets allowed, and the day must exist. */
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;

function isDateTime(text: string): boolean {
  const found = dateTime.exec(text);
  return found !== null && isDate(found[1] ?? "") && Number(found[2]) < 24 && Number(found[3]) < 60 && Number(found[4]) < 60;
}

function isDate(text: string): boolean {
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return instant !== undefined && !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

const hostname =
  /^([a-zA-Z0-9\u00C0-\uFFFF]([a-zA-Z0-9\-\u00C0-\uFFFF]{0,61}[a-zA-Z0-9\u00C0-\uFFFF])?\.)*[a-zA-Z0-9\u00C0-\uFFFF]([a-zA-Z0-9\-\u00C0-\uFFFF]{0,61}[a-zA-Z0-9\u00C0-\uFFFF])?\.?$/;

/** What Go's `url.ParseRequestURI` takes: an absolute URI, or an absolute path. */
function isUri(text: string): boolean {
  return /^([a-zA-Z][a-zA-Z0-9+.-]*:|\/)/.test(text) && !/[\s\p{Cc}]/u.test(text) && !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isCidr(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  if (!/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}

const goDuration = /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;
const wordyDuration = /^\s*\d+\s*(ns|nano|us|µs|micro|ms|milli|s|sec|m|min|h|hr|d|day|w|week)\w*\s*$/i;

export const formats: Readonly<Record<string, Check>> = {
  "date-time": isDateTime,
  datetime: isDateTime,
  date: isDate,
  duration: (text) => goDuration.test(text) || wordyDuration.test(text),
  uuid: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: matching(/^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i),
  uri: isUri,
  email: matching(/^[^\s@<>]+@[^\s@<>]+$/),
  hostname: (text) => text.length <= 255 && hostname.test(text),
  byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  password: () => true,
};
