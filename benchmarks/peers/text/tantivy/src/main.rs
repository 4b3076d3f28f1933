// tantivy's SimpleTokenizer with LowerCaser over a file, as MB/s: the median of rounds. It splits at whatever is not
// alphanumeric; that is less than Unicode's rules ask for.
use std::time::Instant;
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenStream};

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let text = std::fs::read_to_string(path).expect("text");
    let mut words = TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build();
    let mut rounds = Vec::new();
    let mut bytes = 0;
    for _ in 0..25 {
        let begin = Instant::now();
        let mut stream = words.token_stream(&text);
        while stream.advance() {
            bytes += stream.token().text.len();
        }
        rounds.push(text.len() as f64 / 1e6 / begin.elapsed().as_secs_f64());
    }
    rounds.sort_by(|a, b| a.total_cmp(b));
    assert!(bytes > 0);
    println!("{:.1}", rounds[rounds.len() / 2]);
}
