// Packs blocks and writes them to an archive, past the page cache.
use std::alloc::{alloc_zeroed, Layout};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

const BLOCK: usize = 512 << 10;
const O_DIRECT: i32 = 0o40000;

#[inline(never)]
fn pack_block(block: &mut [u8], number: u64) -> u64 {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for _ in 0..6 {
        for byte in block.iter_mut() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = byte.wrapping_add(state as u8);
        }
    }
    state
}

#[inline(never)]
fn store_block(archive: &mut File, block: &[u8]) {
    archive.write_all(block).expect("write archive");
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let blocks: u64 = arguments[2].parse().expect("number of blocks");
    let mut archive = OpenOptions::new()
        .write(true)
        .create(true)
        .custom_flags(O_DIRECT)
        .open(&arguments[1])
        .expect("open archive");
    let layout = Layout::from_size_align(BLOCK, 4096).unwrap();
    let block = unsafe { std::slice::from_raw_parts_mut(alloc_zeroed(layout), BLOCK) };
    let mut sum = 0u64;
    for number in 0..blocks {
        sum = sum.wrapping_add(pack_block(block, number));
        store_block(&mut archive, block);
    }
    println!("{sum}");
}
