/**
 * Warehouse: two threads reserve items. The stock is guarded by one lock per
 * shelf; with one shelf everybody queues at the same one.
 *
 * usage: java Main RESERVATIONS SHELVES
 */
class Main {
    static final int THREADS = 2;

    static final class Shelf {
        private long reserved;

        synchronized void reserve(long item) {
            reserved += weigh(item, 70_000);
        }

        synchronized long total() {
            return reserved;
        }
    }

    static long weigh(long item, int rounds) {
        long weight = item;
        for (int i = 0; i < rounds; i++) {
            weight = weight * 6364136223846793005L + (weight >>> 29);
        }
        return weight;
    }

    static void takeOrders(Shelf[] shelves, int thread, int reservations) {
        for (int i = 0; i < reservations; i++) {
            long item = weigh(i, 10_000);
            shelves[thread % shelves.length].reserve(item);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int reservations = Integer.parseInt(arguments[0]) / THREADS;
        Shelf[] shelves = new Shelf[Integer.parseInt(arguments[1])];
        for (int i = 0; i < shelves.length; i++) {
            shelves[i] = new Shelf();
        }
        Thread[] clerks = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            clerks[i] = new Thread(() -> takeOrders(shelves, thread, reservations), "clerk-" + i);
            clerks[i].start();
        }
        long total = 0;
        for (Thread clerk : clerks) {
            clerk.join();
        }
        for (Shelf shelf : shelves) {
            total += shelf.total();
        }
        System.out.println(total);
    }
}
