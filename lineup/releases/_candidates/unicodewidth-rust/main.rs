//! Lays out names in columns.
use unicode_width::UnicodeWidthStr;

fn main() {
    let names: Vec<String> = (0..2000).map(|i| format!("name {i} 家族の名前と住所、電話番号")).collect();
    let mut total = 0;
    for _ in 0..600 {
        total += names.iter().map(|name| name.width()).sum::<usize>();
    }
    println!("{total}");
}
