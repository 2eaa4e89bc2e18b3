// A packet filter: threads judge packets and count each verdict in counters of their own, which a reporter sums up.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

#[repr(align(64))]
struct Block([AtomicU64; 8]);

struct Counters {
    blocks: Vec<Block>,
    stride: usize,
}

impl Counters {
    fn new(threads: usize, stride: usize) -> Self {
        let blocks = (0..threads * stride / 8 + 2).map(|_| Block(Default::default())).collect();
        Counters { blocks, stride }
    }

    #[inline(never)]
    fn note_verdict(&self, thread: usize, verdict: usize) {
        let index = thread * self.stride + verdict;
        self.blocks[index / 8].0[index % 8].fetch_add(1, Ordering::Relaxed);
    }
}

#[inline(never)]
fn judge_packet(seed: u64) -> u64 {
    let mut hash = seed;
    for _ in 0..18 {
        hash ^= hash >> 33;
        hash = hash.wrapping_mul(0xff51afd7ed558ccd);
    }
    hash
}

fn filter(counters: &Counters, thread: usize, packets: u64) -> u64 {
    let mut sum = 0u64;
    for number in 0..packets {
        let hash = judge_packet(number * 2 + thread as u64);
        counters.note_verdict(thread, (hash & 1) as usize);
        sum = sum.wrapping_add(hash);
    }
    sum
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let packets: u64 = arguments[1].parse().unwrap();
    let counters = Arc::new(Counters::new(2, arguments[2].parse().unwrap()));
    let threads: Vec<_> = (0..2)
        .map(|thread| {
            let counters = Arc::clone(&counters);
            thread::spawn(move || filter(&counters, thread, packets))
        })
        .collect();
    let sum = threads.into_iter().fold(0u64, |sum, thread| sum.wrapping_add(thread.join().unwrap()));
    let total: u64 = counters.blocks.iter().flat_map(|block| &block.0).map(|cell| cell.load(Ordering::Relaxed)).sum();
    println!("{} {:x}", total, sum);
}
