//! Search in the memory of a process.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use crate::marks::{Mark, Marks};

const PAGE: u64 = 4096;

/// Contents of a page that was never written.
const NOTHING: [u8; PAGE as usize] = [0; PAGE as usize];

/// Bits of a page in memory or swap, in `/proc/PID/pagemap`.
const THERE: u64 = 0b11 << 62;

/// Returns the marks found in the writable memory of a process.
pub fn found(pid: u32, marks: &Marks) -> HashSet<Mark> {
    let mut found = HashSet::new();
    for_each_run(pid, &mut |run| {
        marks.look(run, |_, mark| {
            found.insert(mark);
        });
    });
    found
}

/// Visits each run of adjacent pages in the writable memory of a process.
pub fn for_each_run(pid: u32, visit: &mut dyn FnMut(&[u8])) {
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
        // Bytes of adjacent pages.
        let mut run: Vec<u8> = Vec::new();
        for (page, entry) in entries.as_chunks::<8>().0.iter().enumerate() {
            let begin = run.len();
            let is_there = u64::from_ne_bytes(*entry) & THERE != 0;
            run.resize(begin + PAGE as usize, 0);
            let place = from + page as u64 * PAGE;
            let is_read = is_there && memory.read_exact_at(&mut run[begin..], place).is_ok();
            // No mark begins with eight zeros, and most pages contain nothing else.
            if !is_read || run[begin..] == NOTHING {
                run.truncate(begin);
                visit(&run);
                run.clear();
            }
        }
        visit(&run);
    }
}
