// largestOf picks the places from one up to another that weigh most, the heaviest first, of equal
// ones the first. Those whose weight is no number are left out. It holds no more than it returns: a
// sort of all would take seconds of a million.
export function largestOf(from: number, end: number, most: number, weight: (place: number) => number): number[] {
  const places: number[] = []; // a heap, the lightest on top
  const weights: number[] = [];
  const lighter = (x: number, y: number) =>
    weights[x]! < weights[y]! || (weights[x] === weights[y] && places[x]! > places[y]!);
  const swap = (x: number, y: number) => {
    [places[x], places[y]] = [places[y]!, places[x]!];
    [weights[x], weights[y]] = [weights[y]!, weights[x]!];
  };
  for (let place = from; place < end; place++) {
    const heavy = weight(place);
    if (Number.isNaN(heavy) || (places.length === most && heavy <= weights[0]!)) continue;
    let at = 0;
    if (places.length < most) {
      at = places.push(place) - 1;
      weights.push(heavy);
      for (let above = (at - 1) >> 1; at > 0 && lighter(at, above); above = (at - 1) >> 1) {
        swap(at, above);
        at = above;
      }
      continue;
    }
    [places[0], weights[0]] = [place, heavy];
    for (let below = 1; below < most; below = 2 * at + 1) {
      if (below + 1 < most && lighter(below + 1, below)) below++;
      if (!lighter(below, at)) break;
      swap(at, below);
      at = below;
    }
  }
  const order = places.map((_, i) => i).sort((x, y) => (lighter(x, y) ? 1 : -1));
  return order.map((i) => places[i]!);
}
