//! FEMU, the emulator of SSDs under QEMU (Li and others, "The CASE of FEMU", FAST 2018): the device
//! as an option of its black-box mode.

use rtflash_model::Device;

use crate::export::exported::NotExported;

/// The option for QEMU's command line, and what is different there: sentences.
///
/// `devsz_mb` is λ of the flash, rounded down. A page has sectors of 512 bytes. Fails if the page
/// size is no multiple of 512.
pub fn device_line(device: &Device) -> Result<(String, Vec<String>), NotExported> {
    if !device.page_size().is_multiple_of(512) {
        return Err(NotExported::NoSectors);
    }
    let per_channel = device.chips_per_channel().min(device.chips());
    let sectors = device.page_size() / 512;
    let bytes = device.logical_pages() * u128::from(device.page_size());
    let on_chip = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
    let [read, program, erase, transfer] = on_chip.map(|time| time.as_ns());
    let line = format!(
        "-device femu,devsz_mb={},namespaces=1,femu_mode=1,secsz=512,secs_per_pg={sectors},pgs_per_blk={},\
         blks_per_pl={},pls_per_lun=1,luns_per_ch={per_channel},nchs={},pg_rd_lat={read},pg_wr_lat={program},\
         blk_er_lat={erase},ch_xfer_lat={transfer},gc_thres_pcent=75,gc_thres_pcent_high=95",
        bytes >> 20,
        device.pages_per_block(),
        device.blocks_per_chip(),
        device.channels(),
    );
    let mut notes = vec![
        "FEMU stripes pages over all channels and dies: it has no clusters, so an allocation means nothing to it.".to_owned(),
        "Requests are served in order of arrival and garbage is collected by whole lines of blocks: no deadline is promised."
            .to_owned(),
        "ch_xfer_lat is taken and not used by FEMU's black-box mode: transfers cost nothing there.".to_owned(),
    ];
    let powers = [sectors, device.pages_per_block(), device.blocks_per_chip(), per_channel, device.channels()];
    if !powers.iter().all(|number| number.is_power_of_two()) {
        notes.push("FEMU wants powers of two for all numbers of its layout; this device has others.".to_owned());
    }
    if device.has_commands() {
        notes.push("Commands take no time there: `command` is left out.".to_owned());
    }
    if device.page_registers() > 1 {
        notes.push("Chips have no cache register there: `cache_register` is left out.".to_owned());
    }
    if !device.chips().is_multiple_of(per_channel) {
        notes.push("The last channel has as many dies as the others there.".to_owned());
    }
    Ok((line, notes))
}
