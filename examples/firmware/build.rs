//! The image that the firmware is built with, and the geometry of its memory.

use std::path::PathBuf;
use std::{env, fs};

use rtflash_ftl::Geometry;
use rtflash_ftl::image::Image;

fn main() {
    println!("cargo:rerun-if-env-changed=RTFLASH_IMAGE");
    println!("cargo:rerun-if-changed=memory.x");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let path = env::var("RTFLASH_IMAGE").expect("RTFLASH_IMAGE: what `rtflash export firmware` wrote");
    println!("cargo:rerun-if-changed={path}");
    let bytes = fs::read(&path).expect("an image");
    let image = Image::read(&bytes).expect("a sound image");
    let geometry = Geometry::of(&image, 0).expect("a small device");
    fs::write(out.join("image.bin"), &bytes).expect("a place for the image");
    let constant = format!("pub const GEOMETRY: rtflash_ftl::Geometry = rtflash_ftl::{geometry:?};\n");
    fs::write(out.join("geometry.rs"), constant).expect("a place for the geometry");
    fs::copy("memory.x", out.join("memory.x")).expect("a place for the map of the memory");
    println!("cargo:rustc-link-search={}", out.display());
}
