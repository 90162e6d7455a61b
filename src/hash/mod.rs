//! Hash families: from an element to its bucket, and from a bucket to its elements.
//!
//! Each report carries a 64-bit seed that fixes all hash functions of that report. Privacy never
//! depends on the quality of a hash; utility does.

mod balanced;
#[cfg(feature = "analysis")]
mod chosen;
#[cfg(feature = "collector")]
mod collected;
mod drawn;
mod family;
mod functions;
mod keys;
#[cfg(feature = "collector")]
mod lanes;
mod shuffled;
mod sign;
#[cfg(not(feature = "collector"))]
mod single;
#[cfg(feature = "collector")]
mod slots;

pub use balanced::Balanced;
#[cfg(feature = "collector")]
pub(crate) use collected::element_sign;
#[cfg(feature = "collector")]
pub use collected::{closed_sign, closed_sign_word, open_sign};
pub use drawn::for_each_drawn;
pub(crate) use family::Hash;
pub use family::{Hashing, independent_bucket};
pub use functions::Functions;
pub use keys::Keys;
pub(crate) use shuffled::MOST_WINDOWED;
pub(crate) use sign::SignBit;
