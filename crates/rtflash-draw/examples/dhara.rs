//! Draws capacity, the bound on a write, and writes that were seen, over Dhara's gc_ratio: the
//! figure of docs/dhara.md.
//!
//! `cargo run --release -p rtflash-draw --example dhara > docs/dhara.svg`

#[path = "../../rtflash-dhara/examples/common/overwrites.rs"]
mod overwrites;

use std::error::Error;

use overwrites::overwrite;
use rtflash_dhara::costs::{ChipTimes, DharaShape, DriverTimes};
use rtflash_dhara::nand::NandGeometry;
use rtflash_draw::figure::{Curve, Figure, MeasuredPoint, YAxis};
use rtflash_model::Device;

/// 4 is the ratio of Espressif's examples, 15 Zephyr's default, 45 Espressif's default.
const RATIOS: [u32; 9] = [1, 2, 3, 4, 6, 8, 15, 30, 45];
/// Blocks of the chip.
const BLOCKS: u32 = 1_024;
/// Overwrites that are measured.
const OVERWRITES: u32 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::profile("mt29f4g08abada-slc").ok_or("the profile")?;
    let times = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
    let [read, program, erase, transfer] = times.map(|time| u128::from(time.as_ns()));
    let times = DriverTimes::of(&ChipTimes { read, program, erase, transfer, page: device.page_size().into() });
    let [log2_page, log2_block] = [device.page_size(), device.pages_per_block()].map(u32::ilog2);
    let geometry = NandGeometry { log2_page, log2_block, blocks: BLOCKS };
    let labels = ["capacity, % of the chip", "bound on a write, ms", "dearest write seen, ms", "mean write seen, ms"];
    let mut curves = labels.map(|label| Curve { label: label.into(), points: Vec::new() });
    for gc_ratio in RATIOS {
        let empty = DharaShape { geometry, gc_ratio, sectors: 1, bad_run: 0, failures: 0, losses: true, failed: 0 };
        let capacity = empty.new_capacity();
        let full = DharaShape { sectors: u32::try_from(empty.capacity(0))?, ..empty };
        let used = DharaShape { sectors: u32::try_from(capacity * 95 / 100)?, ..empty };
        let seen = overwrite(&used, &times, OVERWRITES);
        let ms = |ns: u128| ns as f64 / 1e6;
        let share = 100.0 * capacity as f64 / f64::from(geometry.pages());
        let values = [share, ms(full.write().time(&times)), ms(seen.longest), ms(seen.mean)];
        for (curve, y) in curves.iter_mut().zip(values) {
            curve.points.push(MeasuredPoint { x: gc_ratio.into(), y, low: f64::NAN, high: f64::NAN });
        }
    }
    let figure = Figure {
        x_label: "gc_ratio".into(),
        y_label: "% of the chip; ms".into(),
        y_axis: YAxis::FromZero,
        x_ticks: Some([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].into()),
        curves: curves.into(),
        ..Figure::default()
    };
    print!("{}", figure.svg());
    Ok(())
}
