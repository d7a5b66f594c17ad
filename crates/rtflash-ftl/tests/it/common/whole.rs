//! An image as lists that can be altered, and be an image again.

#![allow(dead_code)] // Each test file uses its own part of this.

use rtflash_ftl::image::{
    ClusterParts, Image, ImageCollection, ImageDevice, ImageJobs, ImageOrganisation, ImageParts, ImageRing,
    ImageServer, ImageSource,
};

/// The parts of a cluster.
#[derive(Debug, Clone)]
pub struct WholeCluster {
    pub organisation: ImageOrganisation,
    pub suspends_erases: bool,
    pub backfills: bool,
    pub cached: bool,
    pub chips: Vec<u32>,
    pub logical_per_chip: u32,
    pub collection: Option<ImageCollection>,
    pub server: Option<ImageServer>,
    pub rings: Vec<ImageRing>,
}

/// The parts of an image.
#[derive(Debug, Clone)]
pub struct Whole {
    pub device: ImageDevice,
    pub clusters: Vec<WholeCluster>,
    pub sources: Vec<ImageSource>,
    pub jobs: Vec<ImageJobs>,
}

impl WholeCluster {
    fn of(image: &Image<'_>, number: u32) -> WholeCluster {
        let of = image.cluster(number).expect("a cluster");
        WholeCluster {
            organisation: of.organisation(),
            suspends_erases: of.suspends_erases(),
            backfills: of.backfills(),
            cached: of.is_cached(),
            chips: (0..of.chips()).map(|place| of.chip(place).expect("a chip")).collect(),
            logical_per_chip: of.logical_per_chip(),
            collection: of.collection(),
            server: of.server(),
            rings: (0..of.rings()).map(|place| of.ring(place).expect("a ring")).collect(),
        }
    }

    fn parts(&self) -> ClusterParts<'_> {
        ClusterParts {
            organisation: self.organisation,
            suspends_erases: self.suspends_erases,
            backfills: self.backfills,
            cached: self.cached,
            chips: &self.chips,
            logical_per_chip: self.logical_per_chip,
            collection: self.collection,
            server: self.server,
            rings: &self.rings,
        }
    }
}

impl Whole {
    pub fn of(image: &Image<'_>) -> Whole {
        Whole {
            device: image.device(),
            clusters: (0..image.clusters()).map(|number| WholeCluster::of(image, number)).collect(),
            sources: (0..image.sources()).map(|number| image.source(number).expect("a source")).collect(),
            jobs: (0..image.job_streams()).map(|number| image.job_stream(number).expect("a stream")).collect(),
        }
    }

    /// The image, whether it is sound or not.
    pub fn bytes(&self) -> Vec<u8> {
        let clusters: Vec<ClusterParts<'_>> = self.clusters.iter().map(WholeCluster::parts).collect();
        let parts = ImageParts { device: self.device, clusters: &clusters, sources: &self.sources, jobs: &self.jobs };
        let mut bytes = vec![0; parts.encoded_len().expect("a small image")];
        assert_eq!(parts.encode(&mut bytes), Some(bytes.len()));
        bytes
    }
}
