//! What is in a process's memory.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;

/// A page that was never written to.
const NOTHING: [u8; PAGE as usize] = [0; PAGE as usize];

/// Bits of a page that is in memory, or swapped out, in `/proc/PID/pagemap`.
const THERE: u64 = 0b11 << 62;

/// Which of these are in the memory of a process that it may write to.
pub(super) fn found(pid: u32, marks: &HashSet<[u8; 8]>) -> HashSet<[u8; 8]> {
    // A place is held against marks where its first two bytes are those of one.
    let mut begins = vec![false; 1 << 16];
    for [first, second, ..] in marks {
        begins[usize::from(u16::from_be_bytes([*first, *second]))] = true;
    }
    let mut found = HashSet::new();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let [memory, pages] = ["mem", "pagemap"].map(|name| {
        let path = format!("/proc/{pid}/{name}");
        File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    });
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().unwrap(), words.next().unwrap());
        if !rights.starts_with("rw") {
            continue;
        }
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).unwrap());
        let mut entries = vec![0; 8 * ((to - from) / PAGE) as usize];
        if pages.read_exact_at(&mut entries, from / PAGE * 8).is_err() {
            continue;
        }
        // Bytes of pages that follow one another.
        let mut run: Vec<u8> = Vec::new();
        for (page, entry) in entries.as_chunks::<8>().0.iter().enumerate() {
            let begin = run.len();
            let is_there = u64::from_ne_bytes(*entry) & THERE != 0;
            run.resize(begin + PAGE as usize, 0);
            let place = from + page as u64 * PAGE;
            let is_read = is_there && memory.read_exact_at(&mut run[begin..], place).is_ok();
            // No mark begins with eight zeros, and most pages have nothing else.
            if !is_read || run[begin..] == NOTHING {
                run.truncate(begin);
                look(&run, marks, &begins, &mut found);
                run.clear();
            }
        }
        look(&run, marks, &begins, &mut found);
    }
    found
}

fn look(run: &[u8], marks: &HashSet<[u8; 8]>, begins: &[bool], found: &mut HashSet<[u8; 8]>) {
    for place in 8..=run.len() {
        let mark: &[u8; 8] = run[place - 8..place].try_into().unwrap();
        if begins[usize::from(u16::from_be_bytes([mark[0], mark[1]]))] && marks.contains(mark) {
            found.insert(*mark);
        }
    }
}
