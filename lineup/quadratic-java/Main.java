/**
 * Session table with chained buckets that is never resized: with few buckets
 * each lookup walks a long chain.
 *
 * usage: java Main REQUESTS SESSIONS BUCKETS
 */
class Main {
    private final int[] heads;
    private final int[] next;
    private final long[] keys;
    private int used;

    Main(int sessions, int buckets) {
        heads = new int[buckets];
        java.util.Arrays.fill(heads, -1);
        next = new int[sessions];
        keys = new long[sessions];
    }

    int findSession(long key) {
        int bucket = (int) Long.remainderUnsigned(key * 0x9E3779B97F4A7C15L, heads.length);
        for (int i = heads[bucket]; i >= 0; i = next[i]) {
            if (keys[i] == key) {
                return i;
            }
        }
        keys[used] = key;
        next[used] = heads[bucket];
        heads[bucket] = used;
        return used++;
    }

    static long encodeResponse(long request, StringBuilder page) {
        page.setLength(0);
        for (int i = 0; i < 40; i++) {
            page.append("field").append(i).append('=').append(request % (i + 7)).append('&');
        }
        long digest = request;
        for (int i = 0; i < page.length(); i++) {
            digest = digest * 31 + page.charAt(i);
        }
        return digest;
    }

    public static void main(String[] arguments) {
        int requests = Integer.parseInt(arguments[0]);
        int sessions = Integer.parseInt(arguments[1]);
        Main table = new Main(sessions, Integer.parseInt(arguments[2]));
        StringBuilder page = new StringBuilder();
        long sum = 0;
        for (int request = 0; request < requests; request++) {
            int session = table.findSession((request * 40503L) % sessions);
            sum += encodeResponse(request + session, page);
        }
        System.out.println(sum);
    }
}
