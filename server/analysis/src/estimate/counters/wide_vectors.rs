//! Vector instructions that not every processor has.

use fearless_simd::{Level, dispatch};

/// Minimum number of slots per report for which wide vectors save time. Fewer slots fit into the
/// vectors that every processor has.
const MIN_SLOTS_PER_REPORT: u32 = 17;

/// The widest vector instructions of this processor, or `None` if they would not save time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WideVectors(Option<Level>);

impl WideVectors {
    /// Detects the instructions, for reports that each hit this number of slots. `None` means that
    /// the number varies. Then slots are tested one at a time, and vectors do not help.
    pub(crate) fn detect(slots_per_report: Option<u32>) -> Self {
        let helps = slots_per_report.is_some_and(|slots| slots >= MIN_SLOTS_PER_REPORT);
        Self(helps.then(Level::new))
    }

    /// Runs `work`, compiled once for each set of instructions. Only what is inlined into `work`
    /// uses them, so `work` and the functions that it calls need `#[inline(always)]`.
    #[inline(always)]
    pub(crate) fn run(self, work: impl FnOnce()) {
        match self.0 {
            Some(level) => dispatch!(level, _vectors => work()),
            None => work(),
        }
    }
}
