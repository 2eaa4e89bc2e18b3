// Smooths a signal a number of times.
//
// usage: PROGRAM SAMPLES PASSES
#[inline(never)]
fn smooth(signal: &mut [u32], passes: usize) {
    for _ in 0..passes {
        for i in 1..signal.len() {
            signal[i] = (signal[i] ^ signal[i - 1]).wrapping_mul(2654435761) >> 1;
        }
    }
}

#[inline(never)]
fn generate(signal: &mut [u32], block: u32) {
    let mut state = block;
    for round in 0..4 {
        for value in signal.iter_mut() {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223 + round);
            *value = state >> 8;
        }
    }
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let mut signal = vec![0u32; 20_000];
    let mut sum = 0u64;
    for block in 0..arguments[0] {
        generate(&mut signal, block as u32);
        smooth(&mut signal, arguments[1]);
        sum += u64::from(signal[signal.len() - 1]);
    }
    println!("{sum}");
}
