/** Reads the time as often as it is told to, as a database does for each write. */
public class ReadTime {
    public static void main(String[] words) {
        long reads = words.length > 0 ? Long.parseLong(words[0]) : 1_000_000, sum = 0;
        for (long i = 0; i < reads; i += 8) {
            sum += System.currentTimeMillis() + System.currentTimeMillis() + System.currentTimeMillis()
                + System.currentTimeMillis() + System.currentTimeMillis() + System.currentTimeMillis()
                + System.currentTimeMillis() + System.currentTimeMillis();
        }
        System.out.println(sum);
    }
}
