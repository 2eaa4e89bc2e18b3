import java.util.stream.IntStream;

/** Scores candidates of an auction, of which each takes the same time. */
public class Main {
	static long score(int candidate) {
		long state = candidate;
		for (int round = 0; round < 3_000_000; round++) {
			state = state * 6364136223846793005L + round ^ state >>> 7;
		}
		return state;
	}

	public static void main(String[] arguments) {
		IntStream candidates = IntStream.range(0, Integer.parseInt(arguments[0]));
		if (arguments[1].equals("spread")) {
			candidates = candidates.parallel();
		}
		System.out.println(candidates.mapToLong(Main::score).max().getAsLong());
	}
}
