//! A warning about devices that state typical times.

use rtflash_model::Device;

use crate::output;

/// Warns that nothing is guaranteed on a device that states typical times.
pub fn warn(device: &Device) {
    if device.has_typical_times() {
        output::complain(&output::warning(
            "the device's times are typical values: nothing is guaranteed; enter the maxima of its datasheet, with \
             \"times\": \"maximum\"",
        ));
    }
}
