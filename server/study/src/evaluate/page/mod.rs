//! Files of a finished study: tables, figures and a page.

pub(super) mod html;
pub(super) mod report;
pub(super) mod results;
