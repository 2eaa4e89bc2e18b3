/** Moves particles in a box. */
public final class Main {
	static final class Particle {
		private double x, speed;

		Particle(double x, double speed) {
			this.x = x;
			this.speed = speed;
		}

		double position() {
			return x;
		}

		void step(double time) {
			x += speed * time;
			if (outside()) {
				turn();
			}
		}

		private boolean outside() {
			return position() < 0 || position() > 1;
		}

		private void turn() {
			speed = -speed;
			x += 2 * speed * 0.001;
		}
	}

	static double simulate(Particle[] box, int steps) {
		double sum = 0;
		for (int step = 0; step < steps; step++) {
			for (Particle particle : box) {
				particle.step(0.001);
				sum += particle.position();
			}
		}
		return sum;
	}

	public static void main(String[] arguments) {
		Particle[] box = new Particle[2000];
		for (int i = 0; i < box.length; i++) {
			box[i] = new Particle(i / 2000.0, (i % 17 - 8) / 10.0);
		}
		System.out.println(simulate(box, Integer.parseInt(arguments[0])));
	}
}
