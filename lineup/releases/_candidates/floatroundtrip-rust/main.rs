//! Reads measurements.
fn main() {
    let numbers: Vec<_> = (0..4000).map(|i| format!("{}.{:017}", i % 90, 1234567890123u64 * (i + 7))).collect();
    let text = format!("[{}]", numbers.join(","));
    let mut total = 0.0;
    for _ in 0..500 {
        let values: Vec<f64> = serde_json::from_str(&text).unwrap();
        total += values[7];
    }
    println!("{total}");
}
