//! The only sort of this crate.

/// Sorts the keys in ascending order, in place.
///
/// All data to be sorted is packed into 64-bit keys, and this function is not inlined. The reason
/// is the size of the module that pages download: every instance of a sort takes kilobytes there.
/// Shell's sort takes a twentieth of the bytes of a sort made for speed.
#[inline(never)]
pub(crate) fn sort_keys(keys: &mut [u64]) {
    if cfg!(target_arch = "wasm32") {
        shell_sort(keys);
    } else {
        keys.sort_unstable();
    }
}

/// Sorts keys that are a gap apart by insertion, for one gap after another (Shell, 1959). Each gap
/// is the previous one divided by 2.2 (Gonnet and Baeza-Yates, 1991). The last gap is 1.
fn shell_sort(keys: &mut [u64]) {
    let mut gap = keys.len();
    while gap > 1 {
        // 5/11 is 1/2.2.
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
