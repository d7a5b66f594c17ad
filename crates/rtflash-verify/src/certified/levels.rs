//! The three tests, by what they suppose: (T), (T') and (T'').

use rtflash_model::Reliance;

use super::lengths::{self, LengthsVerdict};
use super::processor::Processor;

#[derive(Debug)]
pub(super) struct TestLevels {
    granted: Reliance,
    processors: Vec<Vec<Processor>>,
    /// The verdict of each test; `None` if no caller needs it.
    verdicts: [Option<LengthsVerdict>; 3],
}

impl TestLevels {
    /// `processors`: by what is relied on, `None` where a number takes more than 127 bits. The
    /// verdicts: whether it holds, by how little, and if not, whether it would by more.
    pub fn new(granted: Reliance, processors: impl Fn(Reliance) -> Option<Vec<Processor>>) -> Option<TestLevels> {
        let processors = Reliance::ALL.into_iter().map(processors).collect::<Option<Vec<_>>>()?;
        let mut levels = TestLevels { granted, processors, verdicts: [None; 3] };
        let below = || Reliance::ALL.into_iter().filter(|&level| level < granted);
        let above = || Reliance::ALL.into_iter().filter(|&level| level > granted);
        match levels.decide(granted) {
            // A cluster that fails by a test fails by those that suppose less.
            Some(false) => above().any(|level| levels.decide(level) == Some(true)),
            Some(true) => below().any(|level| levels.decide(level) == Some(true)),
            None => below().chain(above()).any(|level| levels.decide(level) == Some(true)),
        };
        Some(levels)
    }

    fn decide(&mut self, level: Reliance) -> Option<bool> {
        let processors = &self.processors[level as usize];
        let verdict = LengthsVerdict::of_all(processors.iter().map(lengths::decide));
        self.verdicts[level as usize] = Some(verdict);
        verdict.holds
    }

    fn known(&self, level: Reliance) -> Option<bool> {
        self.verdicts[level as usize]?.holds
    }

    pub fn least(&self) -> Option<Reliance> {
        Reliance::ALL.into_iter().find(|&level| self.known(level) == Some(true))
    }

    pub fn holds(&self) -> Option<bool> {
        if self.least().is_some_and(|least| least <= self.granted) {
            return Some(true);
        }
        if self.refutes(self.granted) { Some(false) } else { None }
    }

    pub fn refutes(&self, level: Reliance) -> bool {
        Reliance::ALL.into_iter().any(|more| more >= level && self.known(more) == Some(false))
    }

    pub fn processors(&self) -> &[Processor] {
        &self.processors[self.granted as usize]
    }

    pub fn all_processors(&self) -> impl Iterator<Item = &[Processor]> {
        self.processors.iter().map(Vec::as_slice)
    }

    pub fn verdict(&self) -> LengthsVerdict {
        self.verdicts[self.granted as usize].unwrap_or(LengthsVerdict { holds: None, least: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: Option<bool> = Some(true);
    const NO: Option<bool> = Some(false);

    /// The knowledge from each of the tests, the one that supposes least first.
    fn levels(granted: Reliance, holds: [Option<bool>; 3]) -> TestLevels {
        let verdicts = holds.map(|holds| Some(LengthsVerdict { holds, least: None }));
        TestLevels { granted, processors: vec![Vec::new(); 3], verdicts }
    }

    #[test]
    fn what_is_not_decided_is_neither_a_yes_nor_a_no() {
        let [nothing, neighbours, queue] = Reliance::ALL;
        for granted in Reliance::ALL {
            let undecided = levels(granted, [None; 3]);
            assert_eq!((undecided.holds(), undecided.least()), (None, None), "{granted:?}");
            assert!(Reliance::ALL.into_iter().all(|level| !undecided.refutes(level)), "{granted:?}");
        }
        // A test that supposes less says nothing against one that supposes more.
        assert_eq!(levels(neighbours, [NO, None, None]).holds(), None);
        // One that supposes more, and fails, does.
        assert_eq!(levels(neighbours, [None, None, NO]).holds(), NO);
        let split = levels(neighbours, [NO, YES, None]);
        assert_eq!((split.holds(), split.least()), (YES, Some(neighbours)));
        assert!(split.refutes(nothing) && !split.refutes(neighbours) && !split.refutes(queue));
        // A yes by more than is granted is none.
        assert_eq!(levels(nothing, [None, YES, YES]).holds(), None);
        assert_eq!(levels(nothing, [NO, YES, YES]).holds(), NO);
    }
}
