// Two clerks keep a board: one writes what he has seen, the other one what he has kept.
public class Main {
  static final class Board {
    volatile long seen;
    volatile long kept;
    long rest0, rest1, rest2, rest3, rest4, rest5, rest6, rest7, rest8, rest9, rest10, rest11, rest12, rest13, rest14;
    volatile long shelved;
  }

  static void see(Board board, long records) {
    for (long i = 0; i < records; i++) {
      board.seen = i;
    }
  }

  static void keep(Board board, long records) {
    for (long i = 0; i < records; i++) {
      board.kept = i;
    }
  }

  static void shelve(Board board, long records) {
    for (long i = 0; i < records; i++) {
      board.shelved = i;
    }
  }

  public static void main(String[] words) throws InterruptedException {
    long records = Long.parseLong(words[0]);
    boolean shelf = words[1].equals("shelf");
    Board board = new Board();
    Thread one = new Thread(() -> see(board, records));
    Thread two = new Thread(() -> {
      if (shelf) {
        shelve(board, records);
      } else {
        keep(board, records);
      }
    });
    one.start();
    two.start();
    one.join();
    two.join();
    System.out.println(board.seen + board.kept + board.shelved);
  }
}
