//! Reads settings.
use std::fmt::Write;

fn main() {
    let mut text = String::new();
    for i in 0..800 {
        write!(text, "[service{i}]\nname = \"s{i}\"\nport = {i}\nhosts = [\"a\", \"b\"]\n").unwrap();
    }
    let mut total = 0;
    for _ in 0..60 {
        let settings: std::collections::HashMap<String, toml::Value> = toml::from_str(&text).unwrap();
        total += settings.len();
    }
    println!("{total}");
}
