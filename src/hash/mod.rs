//! Hash families. A hash maps an element to its bucket, and can list the elements of a bucket.
//!
//! Each report carries a 64-bit seed that fixes all hash functions of that report. Privacy never
//! depends on the quality of a hash; utility does.

mod balanced;
#[cfg(feature = "collector")]
mod bucket_slots;
#[cfg(feature = "analysis")]
mod defaults;
mod family;
#[cfg(feature = "collector")]
mod for_collectors;
mod functions;
mod keys;
#[cfg(feature = "collector")]
mod lanes;
mod random_subset;
#[cfg(not(feature = "collector"))]
mod sequential;
mod shuffle;
mod sign;

pub use balanced::BalancedHash;
pub(crate) use family::ElementHash;
pub use family::{HashFamily, independent_bucket};
#[cfg(feature = "collector")]
pub(crate) use for_collectors::hashed_element_sign;
#[cfg(feature = "collector")]
pub use for_collectors::{
    hashed_closed_element_sign, hashed_open_key_sign, sign_word_of_closed_elements,
};
pub use functions::HashFunctions;
pub use keys::HashKeys;
pub use random_subset::for_each_drawn_item;
pub(crate) use shuffle::MAX_WINDOWED_HASH_BUCKETS;
pub(crate) use sign::SignBitLocation;
