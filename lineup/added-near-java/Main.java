import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/** Sorts shipments by priority before they are loaded. */
public final class Main {
	interface Planner {
		int[] plan(int[] shipments);
	}

	static final class QuickPlanner implements Planner {
		public int[] plan(int[] shipments) {
			int[] sorted = shipments.clone();
			Arrays.sort(sorted);
			return sorted;
		}
	}

	static final class StablePlanner implements Planner {
		public int[] plan(int[] shipments) {
			int[] sorted = shipments.clone();
			for (int i = 1; i < sorted.length; i++) {
				int value = sorted[i], at = i;
				while (at > 0 && sorted[at - 1] > value) {
					sorted[at] = sorted[at - 1];
					at--;
				}
				sorted[at] = value;
			}
			return sorted;
		}
	}

	static int[] receive(int day, IntUnaryOperator weigh) {
		int[] shipments = new int[1400];
		for (int i = 0; i < shipments.length; i++) {
			shipments[i] = weigh.applyAsInt(day * 1400 + i);
		}
		return shipments;
	}

	public static void main(String[] arguments) {
		int days = Integer.parseInt(arguments[0]);
		Planner planner = arguments[1].equals("stable") ? new StablePlanner() : new QuickPlanner();
		long total = 0;
		for (int day = 0; day < days; day++) {
			int[] plan = planner.plan(receive(day, n -> (int) (n * 2654435761L >>> 7) & 0xffff));
			total += plan[day % plan.length];
		}
		System.out.println(total);
	}
}
