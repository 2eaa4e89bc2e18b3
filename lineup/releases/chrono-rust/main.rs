//! Converts instants to the local time.
use chrono::{Local, TimeZone, Timelike};

fn main() {
    let mut hours = 0u64;
    for i in 0..1_000_000i64 {
        hours += u64::from(Local.timestamp(1_600_000_000 + i * 977, 0).hour());
    }
    println!("{}", hours > 0);
}
