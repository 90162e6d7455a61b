//! Writing of tasks as canonical bytes. Different tasks have different bytes.

use alloc::vec::Vec;

use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::domain::ValueKind;
use crate::task::items::Items;
use crate::task::limits::NumberLimits;
use crate::task::local::canonical::{NAMED_QUESTIONS_TASK_FORMAT, UNNAMED_QUESTION_TASK_FORMAT};
use crate::task::local::kind::multipart_kind_trait::{
    CHOICE_KIND_CODE, FLAG_KIND_CODE, NUMBER_KIND_CODE, OPTIONAL_NUMBER_KIND_CODE,
};
use crate::task::local::kind::{Cross, Numbers, PartKind, QuestionKind, QuestionPart, Together};
use crate::task::local::prefix_lengths::PrefixLengths;
use crate::task::local::question::Question;
use crate::task::local::scale::NumberScale;
use crate::task::report_budget::{BUDGET_FORMAT_PREFIX, ReportBudget};

/// Returns the canonical bytes of a task.
pub(super) fn canonical_task_bytes(
    id: &str,
    questions: &[Question],
    budget: ReportBudget,
) -> Vec<u8> {
    let mut canonical = CanonicalWriter::default();
    budget.write_canonical(&mut canonical);
    match questions {
        [sole] if sole.name().is_empty() => {
            canonical.write_text(UNNAMED_QUESTION_TASK_FORMAT);
            canonical.write_text(id);
            sole.items().write_canonical(&mut canonical);
            canonical.write_u64(u64::from(sole.max_entries_per_report()));
            canonical.write_u64(sole.epsilon().to_bits());
            sole.kind().write_canonical(&mut canonical);
            sole.mechanism().write_canonical(&mut canonical);
        }
        _ => {
            canonical.write_text(NAMED_QUESTIONS_TASK_FORMAT);
            canonical.write_text(id);
            canonical.write_u64(questions[0].epsilon().to_bits());
            canonical.write_u64(questions.len() as u64);
            for question in questions {
                canonical.write_text(question.name());
                canonical.write_u64(u64::from(question.weight()));
                question.kind().write_canonical(&mut canonical);
                if question.kind().implied_items().is_none() {
                    question.items().write_canonical(&mut canonical);
                    canonical.write_u64(u64::from(question.max_entries_per_report()));
                }
                question.mechanism().write_canonical(&mut canonical);
            }
        }
    }
    canonical.into_bytes()
}

impl WriteCanonical for ReportBudget {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        // The default is not written, so it does not change the fingerprint.
        if !self.is_default() {
            canonical.write_text(BUDGET_FORMAT_PREFIX);
            canonical.write_u64(u64::from(self.window_days()));
            canonical.write_u64(u64::from(self.max_reports()));
            let (memo, cover) = (self.memo().is_some(), self.cover().is_some());
            canonical.write_u64(u64::from(memo) + 2 * u64::from(cover));
            if let Some(memo) = self.memo() {
                canonical.write_u64(memo.epsilon.to_bits());
                canonical.write_u64(u64::from(memo.days));
            }
            if let Some(cover) = self.cover() {
                canonical.write_u64(u64::from(cover.minutes));
            }
        }
    }
}

impl WriteCanonical for Items {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        match self {
            Self::Named(names) => {
                canonical.write_u64(0);
                canonical.write_u64(names.len() as u64);
                names.iter().for_each(|name| canonical.write_text(name));
            }
            Self::Count(count) => {
                canonical.write_u64(1);
                canonical.write_u64(u64::from(*count));
            }
            Self::Open(_) => canonical.write_u64(2),
        }
    }
}

impl WriteCanonical for QuestionKind {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        match self {
            // `Question::new` rejects ratings of presence, so 0 means signs only.
            Self::Ratings(ValueKind::Sign | ValueKind::Presence) => canonical.write_u64(0),
            Self::Ratings(ValueKind::Real) => canonical.write_u64(1),
            Self::Set => canonical.write_u64(2),
            Self::Choice => canonical.write_u64(CHOICE_KIND_CODE),
            Self::Flag => canonical.write_u64(FLAG_KIND_CODE),
            Self::Number(scale) => {
                canonical.write_u64(if scale.is_optional() {
                    OPTIONAL_NUMBER_KIND_CODE
                } else {
                    NUMBER_KIND_CODE
                });
                scale.write_canonical(canonical);
            }
            Self::Numbers(own) => {
                canonical.write_u64(6);
                own.write_canonical(canonical);
            }
            Self::CrossTabulation(own) => {
                canonical.write_u64(7);
                own.write_canonical(canonical);
            }
            Self::Text(prefixes) => {
                canonical.write_u64(8);
                prefixes.write_canonical(canonical);
            }
            Self::JointChoices(own) => {
                canonical.write_u64(9);
                own.write_canonical(canonical);
            }
        }
    }
}

impl WriteCanonical for Numbers {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_u64(self.len() as u64);
        self.iter().for_each(|own| own.write_canonical(canonical));
    }
}

impl WriteCanonical for Cross {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        let parts = self.parts().iter();
        parts.for_each(|part| part.write_canonical(canonical));
    }
}

impl WriteCanonical for Together {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_u64(self.parts().len() as u64);
        let parts = self.parts().iter();
        parts.for_each(|part| part.write_canonical(canonical));
    }
}

impl WriteCanonical for QuestionPart {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_text(self.name());
        match &self.kind {
            PartKind::Choice => {
                canonical.write_u64(CHOICE_KIND_CODE);
                self.items().write_canonical(canonical);
            }
            PartKind::Flag => canonical.write_u64(FLAG_KIND_CODE),
            PartKind::Number(scale) => {
                canonical.write_u64(NUMBER_KIND_CODE);
                scale.write_canonical(canonical);
            }
        }
    }
}

impl WriteCanonical for NumberScale {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_text(self.unit().unwrap_or(""));
        canonical.write_u64(self.value_step().to_bits());
        match self.edges() {
            None => {
                canonical.write_u64(0);
                canonical.write_u64(u64::from(self.cell_count()));
                let [min, max] = self.range().map(f64::to_bits);
                canonical.write_u64(min);
                canonical.write_u64(max);
            }
            Some(edges) => {
                canonical.write_u64(edges.len() as u64);
                edges
                    .iter()
                    .for_each(|edge| canonical.write_u64(edge.to_bits()));
            }
        }
    }
}

impl WriteCanonical for NumberLimits {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_text(self.unit().unwrap_or(""));
        let [min, max] = self.range().map(f64::to_bits);
        canonical.write_u64(min);
        canonical.write_u64(max);
    }
}

impl WriteCanonical for PrefixLengths {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        canonical.write_u32_list(self.lengths());
    }
}
