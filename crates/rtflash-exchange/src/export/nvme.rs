//! NVMe drives: namespaces that keep tasks' data apart, by NVM sets or by the handles of Flexible
//! Data Placement, as a script for nvme-cli.

use std::fmt::Write as _;

use rtflash_model::{Allocation, TaskSet};

/// How a drive keeps data apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvmeKind {
    /// NVM sets (NVMe 1.4): groups of dies, if the manufacturer made them so.
    Sets,
    /// Flexible Data Placement (TP4146): a reclaim unit handle for each cluster.
    Fdp,
}

/// Bytes of a block of a namespace.
const BLOCK: u128 = 4_096;

/// A script that makes one namespace for each cluster that has tasks: as large as the cluster's
/// logical pages. The comments of the script say what it does not bring.
pub fn script(set: &TaskSet, allocation: &Allocation, kind: NvmeKind) -> String {
    let device = set.device();
    let mut text = head(kind).to_owned();
    let served = allocation.clusters().into_iter().filter(|cluster| !cluster.tasks.is_empty());
    for (number, cluster) in (1..).zip(served) {
        let bytes = device.logical_pages_of(cluster.size()) * u128::from(device.page_size());
        let blocks = bytes / BLOCK;
        let names: Vec<String> = cluster.tasks.iter().map(|&task| plain(&set.tasks()[task].name)).collect();
        let chips: Vec<String> = cluster.chips.iter().map(|chip| chip.0.to_string()).collect();
        let apart = match kind {
            NvmeKind::Sets => format!("--nvmset-id={number}"),
            NvmeKind::Fdp => format!("--nphndls=1 --phndls={}", number - 1),
        };
        let _ = write!(
            text,
            "\n# Chips {}: {}.\nnvme create-ns \"$drive\" --nsze={blocks} --ncap={blocks} --block-size={BLOCK} {apart}\n\
             nvme attach-ns \"$drive\" --namespace-id={number} --controllers=\"$controller\"\n",
            chips.join(" "),
            names.join(", "),
        );
    }
    text
}

/// A name without what would end a comment.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}

fn head(kind: NvmeKind) -> &'static str {
    match kind {
        NvmeKind::Sets => {
            "#!/bin/sh\n\
             # A namespace in an NVM set of its own for each cluster of an allocation.\n\
             # Usage: sh FILE /dev/nvme0 CONTROLLER. All namespaces have to be deleted before.\n\
             #\n\
             # What this does not bring:\n\
             # - A drive has the sets that its manufacturer made (nvme id-nvmset). Whether a set is as\n\
             #   many dies as the cluster has chips, and which channels they share, is not said by it.\n\
             # - Garbage is collected when the drive likes, and requests are served in an order that\n\
             #   knows no deadline. So no deadline is promised, whatever the analysis says.\n\
             set -eu\n\
             drive=$1\n\
             controller=${2:-0}\n"
        }
        NvmeKind::Fdp => {
            "#!/bin/sh\n\
             # A namespace with a reclaim unit handle of its own for each cluster of an allocation.\n\
             # Usage: sh FILE /dev/nvme0 CONTROLLER. All namespaces have to be deleted before, and\n\
             # Flexible Data Placement has to be on (nvme set-feature -f 0x1d).\n\
             #\n\
             # What this does not bring:\n\
             # - A handle keeps data in reclaim units of their own, so that one task's overwrites do\n\
             #   not fill another's blocks. It does not say on which dies they are: tasks still wait\n\
             #   for each other's programs, erases and transfers.\n\
             # - Garbage is collected when the drive likes, and requests are served in an order that\n\
             #   knows no deadline. So no deadline is promised, whatever the analysis says.\n\
             set -eu\n\
             drive=$1\n\
             controller=${2:-0}\n"
        }
    }
}
