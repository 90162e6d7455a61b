//! Files of a finished study: tables, figures and a page.

pub(super) mod html;
pub(super) mod result_files;
pub(super) mod results;
