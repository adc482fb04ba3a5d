/** What --help prints. */
export const help = `memhog: wastes memory on purpose, and says how much

usage: memhog [--ramp SPEED [--to SIZE]] [--start SIZE] [--hold]

Without flags it makes a buffer of 5 to 10 MiB each second and puts it into one of 20 slots, in place of what
was there: it climbs for a minute or two and then wanders about 150 MiB, never above 200 MiB.

  --ramp SPEED   grow steadily instead: 1Mi/s, 30Mi/min. By the clock: a tick that comes late catches up.
  --to SIZE      where the ramp ends, and what is held from then on: 500Mi. Without it the ramp is endless.
  --start SIZE   hold this much from the first moment; all else comes on top. Default 0.
  --hold         no buffers that come and go: hold what --start says. (A ramp holds what it has anyway.)
  -h, --help     this

Sizes are written as in a manifest: 50Mi, 1.5Gi, 500M, or plain bytes. Every page is written to, so all of it is
resident: the container uses this much and, beside it, what Node itself needs (see README.md).

  memhog --ramp 1Mi/s --to 500Mi      crosses 75 % of 384Mi after some four and a half minutes, then ends at 500 MiB
  memhog --ramp 10Mi/s                leaves nearly ten seconds between 75 % of 384Mi and the kill
  memhog --start 50Mi --hold          sits there

Each second it prints one line, "holding 123.4 MiB". SIGTERM and Ctrl-C end it at once, with a summary.`;
