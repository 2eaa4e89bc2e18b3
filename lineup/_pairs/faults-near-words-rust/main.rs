// Counts words of documents: each document gets a fresh table, which is merged into the totals and dropped.
struct Table {
    words: Vec<u64>,
    counts: Vec<u32>,
    rounds: u32,
}

#[inline(never)]
fn hash_word(word: u64, rounds: u32) -> u64 {
    let mut hash = word;
    for _ in 0..rounds {
        hash = (hash ^ hash >> 29).wrapping_mul(0x9e3779b97f4a7c15);
    }
    hash >> 20
}

impl Table {
    fn new(size: usize, rounds: u32) -> Self {
        Table { words: vec![0; size], counts: vec![0; size], rounds }
    }

    #[inline(never)]
    fn slot_of(&self, word: u64) -> usize {
        let mask = self.words.len() - 1;
        let mut slot = hash_word(word, self.rounds) as usize & mask;
        while self.words[slot] != 0 && self.words[slot] != word {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn count(&mut self, word: u64, by: u32) {
        let slot = self.slot_of(word);
        self.words[slot] = word;
        self.counts[slot] += by;
    }
}

#[inline(never)]
fn write_document(number: u64, length: usize) -> Vec<u64> {
    let mut seed = number + 1;
    (0..length)
        .map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 50) + 1
        })
        .collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let documents: u64 = arguments[1].parse().unwrap();
    let rounds: u32 = arguments[2].parse().unwrap();
    let mut total = 0u64;
    for number in 0..documents {
        let mut table = Table::new(1 << 15, rounds);
        for word in write_document(number, 20000) {
            table.count(word, 1);
        }
        total += table.words.iter().zip(&table.counts).map(|(word, count)| word * *count as u64).sum::<u64>();
    }
    println!("{}", total);
}
