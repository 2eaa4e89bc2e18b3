//! Print queue: orders jobs by priority, then lays out their pages. The two
//! builds differ in how `order_queue` sorts.
//!
//! usage: PROGRAM ROUNDS JOBS

#[derive(Clone, Copy)]
struct Job {
    priority: u32,
    pages: u32,
}

fn receive_jobs(round: u32, count: usize) -> Vec<Job> {
    let mut state = round.wrapping_mul(2654435761).wrapping_add(1);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            Job { priority: state >> 8, pages: state >> 3 & 31 }
        })
        .collect()
}

#[cfg(not(by_selection))]
#[inline(never)]
fn order_queue(queue: &mut [Job]) {
    queue.sort_unstable_by_key(|job| job.priority);
}

#[cfg(by_selection)]
#[inline(never)]
fn order_queue(queue: &mut [Job]) {
    for first in 0..queue.len() {
        let mut smallest = first;
        for i in first + 1..queue.len() {
            if queue[i].priority < queue[smallest].priority {
                smallest = i;
            }
        }
        queue.swap(first, smallest);
    }
}

#[inline(never)]
fn lay_out(job: &Job) -> u64 {
    let mut ink = job.priority as u64;
    for page in 0..job.pages as u64 * 40 {
        ink = ink.wrapping_mul(6364136223846793005).wrapping_add(page ^ (ink >> 33));
    }
    ink
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [rounds, jobs] = arguments[..] else {
        eprintln!("usage: PROGRAM ROUNDS JOBS");
        std::process::exit(2);
    };
    let mut ink = 0u64;
    for round in 0..rounds {
        let mut queue = receive_jobs(round as u32, jobs);
        order_queue(&mut queue);
        for (place, job) in queue.iter().enumerate() {
            ink = ink.wrapping_add(lay_out(job) ^ place as u64);
        }
    }
    println!("{ink:016x}");
}
