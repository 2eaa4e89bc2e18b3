import java.util.concurrent.ArrayBlockingQueue;

/** One thread fills blocks of numbers, another sums them: blocks go round through two queues. */
public class Queue {
	static int fill(int[] block, int state, int writes) {
		for (int write = 0; write < writes; write++)
			for (int i = 0; i < block.length; i++) {
				state = state * 1664525 + 1013904223;
				block[i] += state;
			}
		return state;
	}

	static int sum(int[] block, int sum, int passes) {
		for (int pass = 0; pass < passes; pass++)
			for (int i = 0; i < block.length; i++)
				sum = (sum ^ block[i]) * 16777619;
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]), writes = Integer.parseInt(args[1]), passes = Integer.parseInt(args[2]);
		var empty = new ArrayBlockingQueue<int[]>(4);
		var full = new ArrayBlockingQueue<int[]>(4);
		for (int i = 0; i < 4; i++)
			empty.put(new int[2048]);
		var producer = new Thread(() -> {
			try {
				int state = 1;
				for (int i = 0; i < rounds; i++) {
					int[] block = empty.take();
					state = fill(block, state, writes);
					full.put(block);
				}
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		producer.start();
		int sum = 0;
		for (int i = 0; i < rounds; i++) {
			int[] block = full.take();
			sum = sum(block, sum, passes);
			empty.put(block);
		}
		producer.join();
		System.out.println(sum);
	}
}
