//! Tests of `worker`.

use super::*;

impl WorkerState for u32 {}
impl WorkerState for () {}

#[tokio::test]
async fn what_was_opened_stays_open_and_a_panic_opens_anew() {
    let worker = Worker::new("test", || Ok(0_u32));
    let next = |state: &mut u32| {
        *state += 1;
        Ok(*state)
    };
    let long = Duration::from_secs(10);
    assert_eq!(worker.run(long, next).await, Ok(1));
    assert_eq!(worker.run(long, next).await, Ok(2));
    let failed = worker.run::<u32>(long, |_| panic!("on purpose")).await;
    assert!(matches!(failed, Err(DesktopError::Failed(_))), "{failed:?}");
    assert_eq!(worker.run(long, next).await, Ok(1));
}

#[tokio::test]
async fn a_call_that_hangs_loses_its_thread_and_not_the_next_one() {
    let worker = Worker::new("test", || Ok(()));
    let (free, hung) = std::sync::mpsc::channel::<()>();
    let short = Duration::from_millis(50);
    let late = worker
        .run(short, move |()| {
            let _freed = hung.recv();
            Ok(())
        })
        .await;
    assert_eq!(late, Err(DesktopError::Timeout(short)));
    assert_eq!(worker.run(Duration::from_secs(10), |()| Ok(7)).await, Ok(7));
    drop(free);
}

#[tokio::test]
async fn threads_that_hang_are_bounded_and_all_goes_on_when_they_come_free() {
    let worker = Worker::new("test", || Ok(()));
    let short = Duration::from_millis(10);
    let mut free = Vec::new();
    let mut refused = None;
    for _ in 0..200 {
        let (keep, hung) = std::sync::mpsc::channel::<()>();
        free.push(keep);
        let result = worker
            .run(short, move |()| {
                let _freed = hung.recv();
                Ok(())
            })
            .await;
        if result != Err(DesktopError::Timeout(short)) {
            refused = Some(result);
            break;
        }
    }
    assert!(matches!(refused, Some(Err(DesktopError::NotAvailable(_)))), "{refused:?}");
    assert!(free.len() >= HANGING + 2);
    // One that came too late to be begun hangs nothing, and may have ended since.
    assert!(worker.threads.load(Ordering::SeqCst) <= HANGING + 1);
    drop(free);
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while worker.run(Duration::from_secs(10), |()| Ok(7)).await != Ok(7) {
        assert!(std::time::Instant::now() < end, "the worker never came back");
        tokio::time::sleep(short).await;
    }
}

#[tokio::test]
async fn a_call_whose_deadline_passed_in_the_queue_is_never_begun() {
    let worker = Worker::new("test", || Ok(()));
    let (free, hung) = std::sync::mpsc::channel::<()>();
    let begun = Arc::new(AtomicUsize::new(0));
    let hanging = worker.run(Duration::from_millis(200), move |()| {
        let _freed = hung.recv();
        Ok(())
    });
    let late = Arc::clone(&begun);
    let waiting = worker.run(Duration::from_millis(50), move |()| {
        late.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let (hanging, waiting) = tokio::join!(hanging, waiting);
    assert!(matches!((hanging, waiting), (Err(DesktopError::Timeout(_)), Err(DesktopError::Timeout(_)))));
    drop(free);
    // The old thread ends when it has worked off its queue.
    while worker.threads.load(Ordering::SeqCst) > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(begun.load(Ordering::SeqCst), 0);
}
