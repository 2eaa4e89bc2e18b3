// Why a change is grey: what would have been seen, and how many recordings would show what was
// measured.
import { amount, digits, known, percent, type Num } from "../lib/format";

export interface Measured {
  change: number;
  low: Num;
  high: Num;
  a: number; // what side A spends
}

// seenBy is how much larger than half of a 95 % interval a change has to be to leave it with a
// chance of 80 %: (1.96 + 0.84) / 1.96. Student's distribution, of few recordings, asks for less.
const seenBy = 1.43;
const timesMax = 1000; // from where more recordings are no advice

// whyGrey answers from the interval, which comes from the spread between recordings. What halves it
// takes four times as many.
export function whyGrey({ change, low, high, a }: Measured, per: string): string {
  if (!known(low) || !known(high) || high <= low) {
    return "Why grey: how far recordings scatter is not known here. Record each side several times.";
  }
  const smallest = ((high - low) / 2) * seenBy;
  const share = a > 0 ? ` (${percent(smallest / a)} of A)` : "";
  const seen = `a change of ${amount(smallest, "s")}${share} per ${per} would have been seen, four times out of five`;
  if (low > 0 || high < 0) {
    return "Why grey: its own interval leaves zero out, but among so many frames one does so by chance, or the " +
      `frames above it cannot be told from zero. By itself, ${seen}.`;
  }
  const times = change === 0 ? Infinity : (smallest / Math.abs(change)) ** 2;
  const more = times > timesMax ? "What was measured is too small for any number of recordings in reach."
    : `To see what was measured takes about ${digits(Math.max(2, Math.ceil(times)))} times as many recordings.`;
  return `Why grey: ${seen}. ${more}`;
}
