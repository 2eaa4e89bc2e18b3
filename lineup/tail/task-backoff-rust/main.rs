// A task of tokio for each connection; one request in a hundred backs off before it is answered.
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn make_page(request: &[u8]) -> u32 {
    let mut sum: u32 = 0;
    for i in 0..60000usize {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(request[i & 15] as u32));
    }
    sum
}

async fn back_off() {
    tokio::time::sleep(Duration::from_millis(25)).await
}

async fn serve(mut socket: TcpStream, mut count: u64) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut request = [0u8; 4096];
    while socket.read(&mut request).await? > 0 {
        let body = if make_page(&request) == 0 { "no" } else { "ok" };
        count += 1;
        if count % 100 == 0 {
            back_off().await;
        }
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{body}");
        socket.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

#[tokio::main(worker_threads = 2)]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).expect("a port");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let mut first = 0;
    loop {
        let (socket, _) = listener.accept().await?;
        first += 17;
        tokio::spawn(serve(socket, first));
    }
}
