//! Colors that a file names by numbers of ITU-T H.273, as AVIF, HEIC and PNG do.

use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, MatrixCoefficients, TransferCharacteristics,
};

/// What primaries, transfer characteristics and matrices are if a file does not say it.
pub const UNSPECIFIED: u64 = 2;
/// Perceptual quantization of SMPTE ST 2084, and hybrid log-gamma of ARIB STD-B67.
pub const PERCEPTUAL_QUANTIZATION: u8 = 16;
pub const HYBRID_LOG_GAMMA: u8 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedColors {
    pub primaries: u8,
    pub transfer: u8,
}

impl CodedColors {
    pub fn new(primaries: u64, transfer: u64) -> Option<Self> {
        let number = |value| u8::try_from(value).ok();
        Some(Self { primaries: number(primaries)?, transfer: number(transfer)? })
    }

    pub fn is_high_dynamic_range(self) -> bool {
        matches!(self.transfer, PERCEPTUAL_QUANTIZATION | HYBRID_LOG_GAMMA)
    }

    /// The profile of these colors. `None` if the primaries are reserved or unspecified, as in sRGB.
    ///
    /// Pictures with a transfer of video are shown with that of sRGB, as other programs do.
    pub fn profile(self) -> Option<ColorProfile> {
        let transfer_characteristics = match self.transfer {
            4 => TransferCharacteristics::Bt470M,
            5 => TransferCharacteristics::Bt470Bg,
            8 => TransferCharacteristics::Linear,
            17 => TransferCharacteristics::Smpte428,
            _ => TransferCharacteristics::Srgb,
        };
        let color_primaries = CicpColorPrimaries::try_from(self.primaries).ok()?;
        let cicp = CicpProfile {
            color_primaries,
            transfer_characteristics,
            matrix_coefficients: MatrixCoefficients::Identity,
            full_range: true,
        };
        let profile = ColorProfile::new_from_cicp(cicp);
        // Without known primaries, nothing was set.
        profile.cicp.is_some().then_some(profile)
    }
}
