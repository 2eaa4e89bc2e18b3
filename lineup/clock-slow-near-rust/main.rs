// Draws frames and asks after every so many rows whether the frame's time is over.
use std::time::{Duration, Instant};

#[inline(never)]
fn over(started: Instant) -> bool {
    started.elapsed() > Duration::from_secs(600)
}

#[inline(never)]
fn draw_row(seed: u64) -> u64 {
    let mut state = seed;
    for _ in 0..220 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    state >> 62
}

fn draw(rows: u64, every: u64) -> u64 {
    let started = Instant::now();
    let mut sum = 0;
    for row in 0..rows {
        sum += draw_row(row);
        if row % every == 0 && over(started) {
            break;
        }
    }
    sum
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("usage: draw ROWS EVERY"));
    let rows = arguments.next().expect("usage: draw ROWS EVERY");
    let every = arguments.next().expect("usage: draw ROWS EVERY");
    println!("{}", draw(rows, every));
}
