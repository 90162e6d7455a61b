//! The one sort of this crate.

/// Sorts ascending, in place. Everything that is sorted is packed into 64-bit keys, and this is not
/// inlined, because every instance of a sort is kilobytes that pages download; there, Shell's takes
/// a twentieth of what a sort for speed takes.
#[inline(never)]
pub(crate) fn sort(keys: &mut [u64]) {
    if cfg!(target_arch = "wasm32") {
        shell_sort(keys);
    } else {
        keys.sort_unstable();
    }
}

/// Sorts by insertion among keys that are a gap apart, for falling gaps of which the last
/// is 1 (Shell, 1959; by a factor of 2.2, Gonnet and Baeza-Yates, 1991).
fn shell_sort(keys: &mut [u64]) {
    let mut gap = keys.len();
    while gap > 1 {
        gap = (gap * 5 / 11).max(1);
        for index in gap..keys.len() {
            let mut place = index;
            while place >= gap && keys[place - gap] > keys[place] {
                keys.swap(place - gap, place);
                place -= gap;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::mix::mix64;

    #[test]
    fn pages_sort_as_others_do() {
        for len in [0, 1, 2, 3, 11, 100, 5000] {
            let mut keys: Vec<u64> = (0..len).map(|index| mix64(index) % (2 * len)).collect();
            let mut expected = keys.clone();
            shell_sort(&mut keys);
            expected.sort_unstable();
            assert_eq!(keys, expected);
        }
    }
}
