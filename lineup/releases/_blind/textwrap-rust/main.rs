//! Sets the paragraphs of a manual in lines of 60 columns, and counts its words.
use std::collections::HashMap;

fn main() {
    let words = ["the", "quick", "manual", "explains", "how", "orders", "are", "written", "and", "by", "whom"];
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut lines = 0;
    for i in 0..26000usize {
        let text: Vec<&str> = (0..160).map(|j| words[(i * 7 + j * j) % words.len()]).collect();
        let paragraph = text.join(" ");
        for word in paragraph.split(' ') {
            *counts.entry(word.to_uppercase()).or_default() += 1;
        }
        lines += textwrap::fill(&paragraph, 60).lines().count() / 10;
    }
    println!("{} {}", lines, counts.values().sum::<usize>());
}
