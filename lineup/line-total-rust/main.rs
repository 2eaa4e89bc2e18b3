// Two threads score documents and add up what they saw.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

#[inline(never)]
fn score(seed: u64, words: u64) -> u64 {
    let mut state = seed;
    for _ in 0..words {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    state >> 60
}

#[derive(Default)]
struct Totals {
    documents: AtomicU64,
    points: AtomicU64,
}

#[inline(never)]
fn report(totals: &Totals, pending: &mut u64, value: u64, number: u64, every: u64) {
    *pending += value;
    if number % every == 0 {
        totals.documents.fetch_add(every, Ordering::Relaxed);
        totals.points.fetch_add(*pending, Ordering::Relaxed);
        *pending = 0;
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("usage: score DOCUMENTS EVERY"));
    let documents = arguments.next().expect("usage: score DOCUMENTS EVERY");
    let every = arguments.next().expect("usage: score DOCUMENTS EVERY");
    let total = Arc::new(Totals::default());
    let threads: Vec<_> = (0..2u64)
        .map(|thread| {
            let total = total.clone();
            std::thread::spawn(move || {
                let mut pending = 0;
                for number in 1..=documents {
                    let value = score(number + thread, 8);
                    report(&total, &mut pending, value, number, every);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} {}", total.documents.load(Ordering::Relaxed), total.points.load(Ordering::Relaxed));
}
