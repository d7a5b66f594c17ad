//! Faults of bytes that should be an image.

use core::fmt;

/// Bytes that are no image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageError {
    /// They do not begin like one.
    Magic,
    /// They are of this version of the format.
    Version(u16),
    /// They are fewer or more than the image says, or than its lists take.
    Length,
    /// The checksum is another one.
    Checksum,
    /// Something of the device, a cluster or a source cannot be.
    Fault {
        /// The part.
        place: ImagePlace,
        /// The fault.
        what: &'static str,
    },
}

/// A part of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImagePlace {
    /// The device.
    Device,
    /// The cluster with this position.
    Cluster(u32),
    /// The source with this position.
    Source(u32),
    /// A stream of jobs, by position.
    Jobs(u32),
}

impl fmt::Display for ImagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImagePlace::Device => f.write_str("the device"),
            ImagePlace::Cluster(number) => write!(f, "cluster {number}"),
            ImagePlace::Source(number) => write!(f, "source {number}"),
            ImagePlace::Jobs(number) => write!(f, "stream {number} of jobs"),
        }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Magic => f.write_str("this is no image of an allocation"),
            ImageError::Version(version) => write!(f, "the image is of version {version} of its format"),
            ImageError::Length => f.write_str("the image is not as long as it says"),
            ImageError::Checksum => f.write_str("the image's checksum is wrong"),
            ImageError::Fault { place, what } => write!(f, "{place} of the image {what}"),
        }
    }
}

impl core::error::Error for ImageError {}
