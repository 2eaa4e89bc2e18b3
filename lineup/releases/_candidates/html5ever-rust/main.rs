//! Reads pages and writes them again.
use html5ever::rcdom::RcDom;
use html5ever::serialize::{serialize, SerializeOpts};
use html5ever::tendril::TendrilSink;
use html5ever::{parse_document, ParseOpts};

fn main() {
    let mut page = String::from("<!DOCTYPE html><html><body><pre>");
    for i in 0..20000 {
        page.push_str(&format!("<span class=\"kw\">let</span> x{i} = <a href=\"#{i}\">{i}</a>;\n"));
    }
    page.push_str("</pre></body></html>");
    let mut size = 0;
    for _ in 0..4 {
        let parser = parse_document(RcDom::default(), ParseOpts::default());
        let dom = parser.from_utf8().read_from(&mut page.as_bytes()).unwrap();
        let mut out = Vec::new();
        serialize(&mut out, &dom.document, SerializeOpts::default()).unwrap();
        size += out.len();
    }
    println!("{size}");
}
