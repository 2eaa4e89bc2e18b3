// Two threads take items off the shelves of a shop.
use std::sync::{Arc, Mutex};

#[inline(never)]
fn price(seed: u64, steps: u64) -> u64 {
    let mut state = seed;
    for _ in 0..steps {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    state >> 60
}

#[repr(align(128))]
#[derive(Default)]
struct Shelf {
    sold: Mutex<u64>,
}

#[inline(never)]
fn sell(shelf: &Shelf, value: u64) {
    *shelf.sold.lock().unwrap() += value;
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("usage: stock ITEMS SHELVES"));
    let items = arguments.next().expect("usage: stock ITEMS SHELVES");
    let shelves = arguments.next().expect("usage: stock ITEMS SHELVES");
    let shop: Arc<Vec<Shelf>> = Arc::new((0..shelves).map(|_| Shelf::default()).collect());
    let threads: Vec<_> = (0..2u64)
        .map(|thread| {
            let shop = shop.clone();
            std::thread::spawn(move || {
                for number in 0..items {
                    let value = price(number + thread, 24);
                    sell(&shop[(thread % shelves) as usize], value);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", shop.iter().map(|shelf| *shelf.sold.lock().unwrap()).sum::<u64>());
}
