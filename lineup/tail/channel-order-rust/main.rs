//! A thread a connection; its worker checks each order and answers over a channel. One order in eighty is throttled.
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[inline(never)]
fn check(order: u32) -> u32 {
    if order % 80 == 0 {
        thread::sleep(Duration::from_millis(25));
    }
    let mut sum = order;
    for i in 0..60_000u32 {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
    }
    sum
}

fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("bind");
    for (at, socket) in listener.incoming().enumerate() {
        let mut socket = socket.expect("accept");
        socket.set_nodelay(true).expect("no delay");
        thread::spawn(move || {
            let (ask, asked) = mpsc::channel::<u32>();
            let (answer, answered) = mpsc::channel::<u32>();
            thread::spawn(move || asked.into_iter().all(|order| answer.send(check(order)).is_ok()));
            let mut request = [0u8; 2048];
            let mut order = 17 * at as u32;
            while matches!(socket.read(&mut request), Ok(length) if length > 0) {
                order += 1;
                if ask.send(order).is_err() || answered.recv().is_err() {
                    return;
                }
                if socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                    return;
                }
            }
        });
    }
}
