// Counts words on several threads that share the result.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

fn words(seed: u64) -> impl Iterator<Item = String> {
    (0..400u64).map(move |i| format!("w{}", (seed * 31 + i * i) % 997))
}

fn tally(from: u64, to: u64, totals: Arc<Mutex<HashMap<String, u64>>>) {
    for seed in from..to {
        let mut mine: HashMap<String, u64> = HashMap::new();
        for word in words(seed) {
            *mine.entry(word).or_insert(0) += 1;
        }
        let mut all = totals.lock().unwrap();
        for (word, count) in mine {
            *all.entry(word).or_insert(0) += count;
        }
    }
}

fn main() {
    let pages: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("usage: words PAGES");
    let totals = Arc::new(Mutex::new(HashMap::new()));
    let workers: Vec<_> = (0..3u64)
        .map(|part| {
            let totals = totals.clone();
            std::thread::spawn(move || tally(part * pages, (part + 1) * pages, totals))
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    println!("{}", totals.lock().unwrap().len());
}
