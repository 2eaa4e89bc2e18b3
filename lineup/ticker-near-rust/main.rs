// Renders frames on one thread while another one updates a progress line.
//
// usage: PROGRAM FRAMES SAMPLES
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[inline(never)]
fn render(frame: u64, samples: u64) -> u64 {
    let mut light = frame;
    for sample in 0..samples * 1000 {
        light = light.wrapping_mul(6364136223846793005).wrapping_add(sample);
    }
    light >> 40
}

fn show_progress(done: &AtomicU64, finished: &AtomicBool) -> u64 {
    let mut shown = 0;
    while !finished.load(Ordering::Relaxed) {
        shown = shown.max(done.load(Ordering::Relaxed));
        thread::sleep(Duration::from_millis(1));
    }
    shown
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let done = Arc::new(AtomicU64::new(0));
    let finished = Arc::new(AtomicBool::new(false));
    let (seen, over) = (done.clone(), finished.clone());
    let progress = thread::Builder::new().name("progress".into()).spawn(move || show_progress(&seen, &over)).unwrap();
    let mut light = 0;
    for frame in 0..arguments[0] {
        light ^= render(frame, arguments[1]);
        done.store(frame, Ordering::Relaxed);
    }
    finished.store(true, Ordering::Relaxed);
    println!("{} {}", light, progress.join().unwrap() > 0);
}
