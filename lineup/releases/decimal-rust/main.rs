//! Works with amounts of money.
use rust_decimal::Decimal;

fn main() {
    let mut total = Decimal::from(0);
    for i in 0..2_000_000i64 {
        let price = Decimal::new(i, 2) * Decimal::new(119, 2);
        total += (price / Decimal::from(3)).round_dp(2);
    }
    println!("{total}");
}
