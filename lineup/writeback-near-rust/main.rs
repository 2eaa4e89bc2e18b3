// Rewrites the pages of a table; a checkpoint makes what was rewritten durable.
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

const PAGE: usize = 16384;

struct Table {
    file: File,
    pages: u64,
    every: u64,
}

impl Table {
    #[inline(never)]
    fn change_page(&self, page: &mut [u8], number: u64) -> u64 {
        let mut sum = number;
        for _ in 0..10 {
            for byte in page.iter_mut() {
                sum = sum.wrapping_mul(31).wrapping_add(*byte as u64);
                *byte = (sum >> 13) as u8;
            }
        }
        self.file.write_all_at(page, number % self.pages * PAGE as u64).expect("write page");
        if number % self.every == self.every - 1 {
            self.checkpoint();
        }
        sum
    }

    #[inline(never)]
    fn checkpoint(&self) {
        self.file.sync_data().expect("checkpoint");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let changes: u64 = arguments[2].parse().expect("number of changes");
    let every: u64 = arguments[3].parse().expect("changes of a checkpoint");
    let file = OpenOptions::new().write(true).create(true).open(&arguments[1]).expect("open table");
    let table = Table { file, pages: 256, every };
    let mut page = vec![1u8; PAGE];
    let mut sum = 0u64;
    for number in 0..changes {
        sum = sum.wrapping_add(table.change_page(&mut page, number));
    }
    println!("{sum}");
}
