// Threads parse records and count them: in words of one cache line, in one word, or apart.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Tally {
    done: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Default)]
#[repr(align(256))]
struct Spaced {
    tally: Tally,
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    ns: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, at: *mut Timespec) -> i32;
}

fn cpu() -> i64 {
    let mut at = Timespec { seconds: 0, ns: 0 };
    unsafe { clock_gettime(3, &mut at) };
    at.seconds * 1_000_000_000 + at.ns
}

#[inline(never)]
fn parse(mut state: u32, steps: u32) -> u32 {
    for _ in 0..steps {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
    }
    state
}

#[inline(never)]
fn note(tally: &Tally, state: u32) {
    tally.done.fetch_add(1, Ordering::Relaxed);
    let bytes = tally.bytes.load(Ordering::Relaxed) + u64::from(state & 63);
    tally.bytes.store(bytes, Ordering::Relaxed);
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 5 {
        eprintln!("usage: sharing false|true|padded|own THREADS MILLISECONDS OPERATIONS");
        std::process::exit(2);
    }
    let threads: usize = arguments[2].parse().unwrap();
    let lasts = Duration::from_millis(arguments[3].parse().unwrap());
    let most: i64 = arguments[4].parse().unwrap();
    let kind = arguments[1].clone();
    let near: Arc<Vec<Tally>> = Arc::new((0..8).map(|_| Tally::default()).collect());
    let far: Arc<Vec<Spaced>> = Arc::new((0..8).map(|_| Spaced::default()).collect());
    let workers: Vec<_> = (0..threads)
        .map(|i| {
            let (near, far, kind) = (near.clone(), far.clone(), kind.clone());
            std::thread::spawn(move || {
                let mine = match kind.as_str() {
                    "false" => &near[i],
                    "true" => &near[0],
                    _ => &far[i].tally,
                };
                let (begin, end) = (cpu(), Instant::now() + lasts);
                let (mut state, mut count) = (i as u32, 0i64);
                while count < most / threads as i64 && Instant::now() < end {
                    for _ in 0..4096 {
                        state = parse(state, 4);
                        note(mine, state);
                    }
                    count += 4096;
                }
                (count, cpu() - begin)
            })
        })
        .collect();
    let (mut operations, mut ns) = (0, 0);
    for worker in workers {
        let (count, used) = worker.join().unwrap();
        operations += count;
        ns += used;
    }
    println!("{} {}", operations, ns);
}
