import java.util.ArrayList;
import java.util.List;

/** Matches invoices with payments. */
public final class Main {
	static int score(String invoice, String payment) {
		int same = 0;
		for (int i = 0; i < Math.min(invoice.length(), payment.length()); i++) {
			same += invoice.charAt(i) == payment.charAt(i) ? 1 : 0;
		}
		return same;
	}

	static int bestMatch(String invoice, List<String> payments, int window) {
		int best = 0;
		for (int i = 0; i < window; i++) {
			best = Math.max(best, score(invoice, payments.get((invoice.hashCode() & 1023) + i)));
		}
		return best;
	}

	public static void main(String[] arguments) {
		int invoices = Integer.parseInt(arguments[0]), window = Integer.parseInt(arguments[1]);
		List<String> payments = new ArrayList<>();
		for (int i = 0; i < 2048; i++) {
			payments.add("transfer-" + i * 7919 + "-customer-" + i % 37);
		}
		long total = 0;
		for (int i = 0; i < invoices; i++) {
			total += bestMatch("transfer-" + i * 104729L + "-customer-" + i % 37, payments, window);
		}
		System.out.println(total);
	}
}
