//! Lays out names in columns.
use unicode_width::UnicodeWidthStr;

fn main() {
    let names: Vec<String> = (0..2000).map(|i| format!("name {i} of a person, 家族 and some more text")).collect();
    let mut total = 0;
    for _ in 0..400 {
        total += names.iter().map(|name| name.width()).sum::<usize>();
    }
    println!("{total}");
}
