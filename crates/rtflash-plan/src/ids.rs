//! Positions of what a plan and a device are made of, beside those of the model.

pub(crate) use rtflash_model::{ChipId, ClusterId, Lpn, PerId};

rtflash_model::ids! {
    /// A source of jobs, by position in [`Plan::sources`](crate::Plan::sources).
    SourceId
    /// A channel of the device, by position.
    ChannelId
    /// A chip of a cluster, by position in the cluster.
    ColumnId
    /// A block of a chip; in a superblock, the blocks with this number of all its chips.
    BlockId
    /// A page of a chip or of a superblock cluster, numbered through its blocks.
    PageId
}

/// No logical page: the mark in an operation on no page of a task.
pub const NO_LPN: Lpn = Lpn(u32::MAX);
