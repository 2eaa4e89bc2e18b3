import java.util.HashMap;
import java.util.Map;

/** A cache of pages that stays alive, and requests that make garbage. */
public final class Main {
	static String render(int request) {
		StringBuilder page = new StringBuilder();
		for (int i = 0; i < 40; i++) {
			page.append(request * i).append('/');
		}
		return page.toString();
	}

	public static void main(String[] arguments) {
		int requests = Integer.parseInt(arguments[0]);
		Map<Integer, String> cache = new HashMap<>();
		long total = 0;
		for (int request = 0; request < requests; request++) {
			String page = render(request);
			total += page.length();
			cache.put(request % 60000, page);
		}
		System.out.println(total + " " + cache.size());
	}
}
