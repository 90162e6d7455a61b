//! What slim builds have in the place of trees and of kinds of several parts: types without a
//! value, so that whatever is done with one is left out of the module.

pub(super) mod several;
pub(super) mod tree;
