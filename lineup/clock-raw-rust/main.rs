// Meters the tokens of clients on two threads; each request asks for the time.
//
// usage: PROGRAM REQUESTS
#[cfg(no_libc)]
use std::arch::asm;
use std::thread;

#[repr(C)]
#[derive(Default)]
struct Moment {
    seconds: i64,
    nanoseconds: i64,
}

#[cfg(not(no_libc))]
extern "C" {
    fn clock_gettime(clock: i32, moment: *mut Moment) -> i32;
}

#[cfg(no_libc)]
unsafe fn clock_gettime(clock: i32, moment: *mut Moment) -> i32 {
    let result: i64;
    asm!("syscall", inlateout("rax") 228i64 => result, in("rdi") clock as i64, in("rsi") moment,
         lateout("rcx") _, lateout("r11") _);
    result as i32
}

#[inline(never)]
fn now() -> i64 {
    let mut moment = Moment::default();
    unsafe { clock_gettime(1, &mut moment) };
    moment.seconds * 1_000_000_000 + moment.nanoseconds
}

struct Bucket {
    tokens: i64,
    filled: i64,
}

#[inline(never)]
fn admit(bucket: &mut Bucket, request: u64) -> bool {
    let now = now();
    bucket.tokens = (bucket.tokens + (now - bucket.filled) / 1000).min(500);
    bucket.filled = now;
    let mut weight = request;
    for _ in 0..120 {
        weight = weight.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    bucket.tokens -= (weight >> 62) as i64;
    bucket.tokens > 0
}

fn main() {
    let requests: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1000);
    let meters: Vec<_> = (0..2u64)
        .map(|meter| {
            thread::spawn(move || {
                let mut buckets: Vec<Bucket> = (0..64).map(|_| Bucket { tokens: 0, filled: 0 }).collect();
                (0..requests / 2).filter(|r| admit(&mut buckets[(r % 64) as usize], r ^ meter)).count()
            })
        })
        .collect();
    println!("{}", meters.into_iter().map(|m| m.join().unwrap()).sum::<usize>());
}
