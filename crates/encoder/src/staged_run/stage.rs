//! A part of a model.

use rten::NodeId;

use crate::depthwise::DepthwiseConvolution;

/// What the runtime computes at once, and the convolutions that can follow.
pub struct Stage {
    /// Values of former stages.
    pub inputs: Vec<NodeId>,
    /// Values for convolutions and later stages.
    pub outputs: Vec<NodeId>,
    pub convolutions: Vec<StageConvolution>,
}

pub struct StageConvolution {
    pub input: NodeId,
    pub output: NodeId,
    pub convolution: DepthwiseConvolution,
}
