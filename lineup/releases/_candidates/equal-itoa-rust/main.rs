//! Writes numbers.
fn main() {
    let mut buffer = itoa::Buffer::new();
    let mut size = 0usize;
    for i in 0..60_000_000u64 {
        size += buffer.format(i * 7919).len();
    }
    println!("{size}");
}
