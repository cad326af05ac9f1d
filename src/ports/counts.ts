/** What a process has met since its runtime was made: plain counters that whoever meets it moves. */
export interface Counts {
  runsInHand: number;
  leasesLost: number;
  fencedWrites: number;
  behindAnswers: number;
}
