//! A fingerprint of rows and state: the same run gives the same one natively and in the browser.

use xxhash_rust::xxh64::Xxh64;

/// Collects facts in a fixed order. Lengths are written before texts, so that no two sequences of
/// facts look alike.
#[derive(Clone)]
pub struct Digest(Xxh64);

impl Default for Digest {
    fn default() -> Self {
        Digest(Xxh64::new(0))
    }
}

impl Digest {
    pub fn u64(&mut self, value: u64) {
        self.0.update(&value.to_le_bytes());
    }

    pub fn i64(&mut self, value: i64) {
        self.0.update(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, value: &[u8]) {
        self.u64(value.len() as u64);
        self.0.update(value);
    }

    pub fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}
