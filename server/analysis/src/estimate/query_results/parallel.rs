//! Parallel map whose results are consumed in order.

use std::num::NonZero;
use std::ops::Range;
use std::sync::mpsc;
use std::thread;

/// Number of indices per chunk of work. Fewer would not be worth a message between threads.
const INDICES_PER_CHUNK: usize = 256;

/// Maximum number of finished chunks per worker that wait to be consumed.
const MAX_WAITING_CHUNKS: usize = 4;

/// Calls `make` for each index in 0..`len` on all cores, and passes the results to `take` in
/// ascending order of the index. At most a few thousand results per core are buffered.
///
/// # Errors
/// Errors of `take`. They end the computation.
pub(crate) fn parallel_map_in_order<T: Send, E>(
    len: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    // Platforms without threads cannot report the parallelism: use one thread there.
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let shares = len.div_ceil(INDICES_PER_CHUNK);
    if cores == 1 || shares <= 1 {
        return (0..len).try_for_each(|number| take(make(number)));
    }
    let numbers = |share: usize| -> Range<usize> {
        INDICES_PER_CHUNK * share..len.min(INDICES_PER_CHUNK * (share + 1))
    };
    let make = &make;
    thread::scope(|scope| {
        // Worker w computes the chunks w, w + cores, and so on. If the receiver is dropped, sending
        // fails and the worker stops.
        let worker = |first: usize| {
            // A bounded channel limits how far a worker runs ahead.
            let (made, waiting) = mpsc::sync_channel::<Vec<T>>(MAX_WAITING_CHUNKS);
            scope.spawn(move || {
                (first..shares)
                    .step_by(cores)
                    .try_for_each(|share| made.send(numbers(share).map(make).collect()))
            });
            waiting
        };
        let workers: Vec<_> = (0..cores.min(shares)).map(worker).collect();
        (0..shares).try_for_each(|share| {
            // `recv` fails only if the worker panicked. The scope re-raises the panic at its end.
            let made = workers[share % cores].recv();
            made.into_iter().flatten().try_for_each(&mut take)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_taken_in_order() {
        for len in [
            0,
            1,
            INDICES_PER_CHUNK,
            INDICES_PER_CHUNK + 1,
            100 * INDICES_PER_CHUNK + 7,
        ] {
            let mut taken = Vec::new();
            let all = parallel_map_in_order(
                len,
                |number| 3 * number,
                |made| {
                    taken.push(made);
                    Ok::<_, ()>(())
                },
            );
            assert_eq!(all, Ok(()));
            assert_eq!(taken, (0..len).map(|number| 3 * number).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_more_is_made_than_is_taken_soon() {
        let made = std::sync::atomic::AtomicUsize::new(0);
        let len = 1_000_000;
        let make = |number| {
            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            number
        };
        assert_eq!(
            parallel_map_in_order(len, make, |number| if number < 5 {
                Ok(())
            } else {
                Err(number)
            }),
            Err(5)
        );
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        // Each worker may hold one more finished chunk that waits to be sent.
        let most = INDICES_PER_CHUNK * (cores * (MAX_WAITING_CHUNKS + 2) + 1);
        assert!(made.into_inner() <= most);
    }

    #[test]
    #[should_panic = "a scoped thread panicked"]
    fn what_panics_is_heard_of() {
        let fails = |number| assert!(number != 3 * INDICES_PER_CHUNK, "number {number}");
        let _ = parallel_map_in_order(10 * INDICES_PER_CHUNK, fails, |()| Ok::<_, ()>(()));
    }
}
