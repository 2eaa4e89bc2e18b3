import java.util.ArrayList;
import java.util.List;

/** Matches buy and sell orders by price. */
public final class Main {
	record Order(int id, int price, int amount) {}

	static int match(List<Order> buys, List<Order> sells) {
		int traded = 0;
		for (Order buy : buys) {
			for (Order sell : sells) {
				if (sell.price() <= buy.price() && ((sell.id() ^ buy.id()) & 7) == 0) {
					traded += Math.min(buy.amount(), sell.amount());
				}
			}
		}
		return traded;
	}

	static List<Order> orders(int count, int seed) {
		List<Order> list = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			seed = seed * 1664525 + 1013904223;
			list.add(new Order(i, (seed >>> 16) % 1000, (seed >>> 8) % 100));
		}
		return list;
	}

	public static void main(String[] arguments) {
		int rounds = Integer.parseInt(arguments[0]);
		long total = 0;
		for (int round = 0; round < rounds; round++) {
			total += match(orders(300, round), orders(300, round + 7));
		}
		System.out.println(total);
	}
}
