// A two-stage build: the compiler stage hands modules to the linker stage and waits for its answer about symbols.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

struct Mailbox {
    letters: Mutex<VecDeque<u64>>,
    arrived: Condvar,
    pause: Option<Duration>,
}

impl Mailbox {
    fn new(pause: u64) -> Arc<Self> {
        let pause = if pause > 0 { Some(Duration::from_micros(pause)) } else { None };
        Arc::new(Mailbox { letters: Mutex::new(VecDeque::new()), arrived: Condvar::new(), pause })
    }

    #[inline(never)]
    fn post(&self, letter: u64) {
        self.letters.lock().unwrap().push_back(letter);
        self.arrived.notify_one();
    }

    #[inline(never)]
    fn collect(&self) -> u64 {
        let mut letters = self.letters.lock().unwrap();
        loop {
            if let Some(letter) = letters.pop_front() {
                return letter;
            }
            match self.pause {
                None => letters = self.arrived.wait(letters).unwrap(),
                Some(pause) => {
                    drop(letters);
                    thread::sleep(pause);
                    letters = self.letters.lock().unwrap();
                }
            }
        }
    }
}

#[inline(never)]
fn compile_module(number: u64, lines: u64) -> u64 {
    let mut hash = number;
    for line in 0..lines {
        hash = (hash ^ line).wrapping_mul(0x100000001b3).rotate_left(7);
    }
    hash
}

#[inline(never)]
fn link_module(module: u64) -> u64 {
    compile_module(module, 300_000)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let modules: u64 = arguments[1].parse().unwrap();
    let pause: u64 = arguments[2].parse().unwrap();
    let (to_linker, to_compiler) = (Mailbox::new(pause), Mailbox::new(pause));
    let (inbox, outbox) = (Arc::clone(&to_linker), Arc::clone(&to_compiler));
    let linker = thread::spawn(move || {
        for _ in 0..modules {
            outbox.post(link_module(inbox.collect()));
        }
    });
    let mut sum = 0u64;
    for number in 0..modules {
        to_linker.post(compile_module(number ^ (sum & 1), 500_000));
        sum = sum.wrapping_add(to_compiler.collect());
    }
    linker.join().unwrap();
    println!("{:x}", sum);
}
