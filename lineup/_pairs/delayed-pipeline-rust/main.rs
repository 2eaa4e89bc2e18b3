// A command pipe to a remote table: two commands are sent, one after the other, then their answers are read.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn serve(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    let mut total = 0u64;
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 0 {
        if let Some(amount) = line.strip_prefix("ADD ") {
            total = total.wrapping_add(amount.trim().parse::<u64>().unwrap());
        } else {
            writer.write_all(format!("{}\n", total).as_bytes()).unwrap();
        }
        line.clear();
    }
}

#[inline(never)]
fn measure(number: u64) -> u64 {
    let mut value = number + 1;
    for step in 0..12_000_000u64 {
        value = (value ^ step).wrapping_mul(0x9e3779b97f4a7c15).rotate_left(9);
    }
    value >> 40
}

#[inline(never)]
fn add_and_get(stream: &mut TcpStream, answers: &mut BufReader<TcpStream>, amount: u64) -> u64 {
    stream.write_all(format!("ADD {}\n", amount).as_bytes()).unwrap();
    stream.write_all(b"GET\n").unwrap();
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.trim().parse().unwrap()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let calls: u64 = arguments[1].parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || serve(listener.accept().unwrap().0));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(arguments[2] == "nodelay").unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut last = 0;
    for number in 0..calls {
        last = add_and_get(&mut stream, &mut answers, measure(number));
    }
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    server.join().unwrap();
    println!("{}", last);
}
