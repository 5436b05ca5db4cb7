//! The only source of chance: a seeded PCG stream with integer draws on top.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg32;

/// A stream of draws that is the same on every machine for the same seed.
#[derive(Clone, Debug)]
pub struct Rng(Pcg32);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(Pcg32::seed_from_u64(seed))
    }

    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A draw from `0..bound`, without bias worth naming (64 bits are scaled); 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True in `numerator` of `denominator` draws.
    pub fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_same_for_ever() {
        let mut rng = Rng::new(7);
        let drawn: Vec<u64> = (0..6).map(|_| rng.below(1_000)).collect();
        expect_test::expect!["[96, 820, 318, 885, 774, 309]"].assert_eq(&format!("{drawn:?}"));
    }

    #[test]
    fn draws_stay_below_their_bound() {
        let mut rng = Rng::new(1);
        assert!((0..1_000).all(|n| rng.below(n + 1) <= n));
        assert_eq!(rng.below(0), 0);
    }
}
