//! Files of a finished study: tables, figures and a page.

pub(super) mod drawn;
pub(super) mod html;
pub(super) mod report;
