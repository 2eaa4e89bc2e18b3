//! Reads addresses.
use url::Url;

fn main() {
    let mut size = 0;
    for i in 0..700_000 {
        let address = Url::parse(&format!("https://www.books{}.example.org/path/{i}?q={i}", i % 100)).unwrap();
        size += address.host_str().unwrap().len();
    }
    println!("{size}");
}
