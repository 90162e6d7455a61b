//! Candidates of a search: texts, and prefixes of longer texts, that are tested against the
//! reports.

/// A candidate: a whole text, or a prefix of longer texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) text: String,
    /// True if `text` is a proper prefix of longer texts, false if it is a whole text.
    pub(super) is_prefix: bool,
}

/// Returns the number of candidates that extend one prefix by 1 to `letters` letters. `alphabet` is
/// the number of different letters.
///
/// Each extension is a candidate as a whole text. Each extension by `letters` letters is also a
/// candidate as a prefix. The result saturates at `u64::MAX`.
pub(super) fn extension_count(alphabet: usize, letters: u32) -> u64 {
    let mut all: u64 = 0;
    let mut longest: u64 = 1;
    for _ in 0..letters {
        // Saturation is safe: the search refuses counts far below `u64::MAX`.
        longest = longest.saturating_mul(alphabet as u64);
        all = all.saturating_add(longest);
    }
    // The longest extensions count twice: as whole texts and as prefixes.
    all.saturating_add(longest)
}

/// Appends the candidates that extend `prefix` by 1 to `letters` letters.
pub(super) fn append_extensions(
    prefix: &mut String,
    letters: u32,
    alphabet: &[char],
    candidates: &mut Vec<Candidate>,
) {
    for &letter in alphabet {
        prefix.push(letter);
        let candidate = |is_prefix| Candidate {
            text: prefix.clone(),
            is_prefix,
        };
        candidates.push(candidate(false));
        if letters == 1 {
            candidates.push(candidate(true));
        } else {
            append_extensions(prefix, letters - 1, alphabet, candidates);
        }
        prefix.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_continuations_are_candidates_once() {
        for (alphabet, letters) in [("a", 1), ("ab", 1), ("ab", 3), ("abcdé", 2)] {
            let alphabet: Vec<char> = alphabet.chars().collect();
            let mut candidates = Vec::new();
            append_extensions(&mut "x".to_owned(), letters, &alphabet, &mut candidates);
            assert_eq!(
                candidates.len() as u64,
                extension_count(alphabet.len(), letters)
            );
            for (index, candidate) in candidates.iter().enumerate() {
                let more = candidate.text.chars().count() as u32 - 1;
                assert!((1..=letters).contains(&more) && candidate.text.starts_with('x'));
                assert!(!candidate.is_prefix || more == letters);
                assert!(!candidates[..index].contains(candidate));
            }
        }
        assert_eq!(extension_count(1000, 64), u64::MAX);
    }
}
