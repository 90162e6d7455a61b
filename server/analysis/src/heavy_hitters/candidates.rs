//! Texts that may be there.

/// A text, or all that go on behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) text: String,
    /// Whether it is the beginning of longer texts, and not a text.
    pub(super) goes_on: bool,
}

/// How many candidates a prefix has that goes on by up to so many letters of an alphabet:
/// all texts of 1 to so many of them, and the longest once more, as prefixes.
pub(super) fn count(alphabet: usize, letters: u32) -> u64 {
    let mut all: u64 = 0;
    let mut longest: u64 = 1;
    for _ in 0..letters {
        longest = longest.saturating_mul(alphabet as u64);
        all = all.saturating_add(longest);
    }
    all.saturating_add(longest)
}

/// Appends the candidates that begin with `prefix` and have up to so many more letters.
pub(super) fn extend(
    prefix: &mut String,
    letters: u32,
    alphabet: &[char],
    candidates: &mut Vec<Candidate>,
) {
    for &letter in alphabet {
        prefix.push(letter);
        let candidate = |goes_on| Candidate {
            text: prefix.clone(),
            goes_on,
        };
        candidates.push(candidate(false));
        if letters == 1 {
            candidates.push(candidate(true));
        } else {
            extend(prefix, letters - 1, alphabet, candidates);
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
            extend(&mut "x".to_owned(), letters, &alphabet, &mut candidates);
            assert_eq!(candidates.len() as u64, count(alphabet.len(), letters));
            for (index, candidate) in candidates.iter().enumerate() {
                let more = candidate.text.chars().count() as u32 - 1;
                assert!((1..=letters).contains(&more) && candidate.text.starts_with('x'));
                assert!(!candidate.goes_on || more == letters);
                assert!(!candidates[..index].contains(candidate));
            }
        }
        assert_eq!(count(1000, 64), u64::MAX);
    }
}
