//! Throws dice.
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

fn main() {
    let mut dice = StdRng::seed_from_u64(7);
    let mut total = 0u64;
    for _ in 0..120_000_000u32 {
        total = total.wrapping_add(dice.gen::<u64>());
    }
    println!("{total}");
}
