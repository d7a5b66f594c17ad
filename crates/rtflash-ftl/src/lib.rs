//! The flash translation layer that keeps a certificate: what a controller has to do so that the
//! promise of `rtflash alloc` holds.
//!
//! It is a state machine without a clock, an allocation or a floating-point number. Whoever runs it
//! gives it memory, tells it what arrives and what ends, and does the operations that it asks for.
#![no_std]
