// served tells whether `culprit serve` gave this page: a file has no way back to a library.
export function served(): boolean {
  return document.querySelector('meta[name="culprit-served"]') !== null;
}
