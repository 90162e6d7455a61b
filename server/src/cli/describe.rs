//! Words for what several commands show.

use hushbin::Mechanism;
use hushbin::mechanism::hash_bin;
use serde::Serialize;

/// A mechanism with its parameters.
pub(super) fn mechanism(mechanism: &Mechanism) -> String {
    let buckets = |rule: String, hashing: String, buckets: u32, favoured: Option<u32>| {
        let favoured = favoured.map_or_else(String::new, |c| format!(", {c} favoured"));
        format!("rule {rule}, {hashing} hashing, {buckets} buckets{favoured}")
    };
    let parameters = match mechanism {
        Mechanism::Collision(collision) => buckets(
            word(&collision.rule_name()),
            word(&collision.hashing()),
            collision.buckets(),
            collision.favoured(),
        ),
        Mechanism::Coco(coco) => buckets(
            word(&coco.rule_name()),
            word(&coco.hashing()),
            coco.buckets(),
            coco.favoured(),
        ),
        Mechanism::HashBin(hash_bin) => {
            let level = match hash_bin.level() {
                hash_bin::Level::Event => "level event".to_owned(),
                hash_bin::Level::Neighbouring { distance, .. } => {
                    format!("level neighbouring, distance {distance}")
                }
                hash_bin::Level::User { clip, noise } => {
                    format!(
                        "level user, {} noise, sums clipped to ±{clip}",
                        word(&noise)
                    )
                }
            };
            let bins = match hash_bin.bins() {
                1 => "1 bin".to_owned(),
                bins => format!("{bins} bins, {} hashing", word(&hash_bin.hashing())),
            };
            format!("{level}, {bins}, grid 1/{}", hash_bin.grid())
        }
    };
    format!("{}, {parameters}", mechanism.name())
}

/// The word that stands for a value in task files.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

/// A number with so many decimals, or a dash where there is none.
pub(super) fn decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.decimals$}"))
}
