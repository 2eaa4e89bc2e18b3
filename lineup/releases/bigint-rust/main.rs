//! Large factorials as text.
use num_bigint::BigUint;

fn main() {
    let mut size = 0;
    for n in 0..60u32 {
        let mut product = BigUint::from(1u32);
        for i in 1..(1500 + n) {
            product *= i;
        }
        size += product.to_string().len();
    }
    println!("{size}");
}
