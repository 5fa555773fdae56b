//! Makes `ring` the cryptography library for TLS and for signed tokens. By default, `rustls` and `jsonwebtoken` bring
//! `aws-lc`, whose C code takes four times as long to compile and needs a C++ toolchain on some systems.

mod hs256;

use std::sync::{Arc, Once};

use jsonwebtoken::crypto::{CryptoProvider as TokenProvider, KeyUtils};
use rustls::crypto::CryptoProvider as TlsProvider;

/// Signs and verifies tokens with HS256, the only algorithm that the API uses.
static TOKEN_PROVIDER: TokenProvider = TokenProvider {
    signer_factory: |algorithm, key| hs256::signer(*algorithm, key),
    verifier_factory: |algorithm, key| hs256::verifier(*algorithm, key),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the library for the process. Every function that builds an HTTP client, signs a token or verifies one calls
/// this function first. Only the first call has an effect.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // A program that embeds these crates may have installed its own providers, which are kept.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let _ = TOKEN_PROVIDER.install_default();
    });
}

/// Returns the ciphers, key exchanges and signatures of TLS.
pub fn tls_provider() -> Arc<TlsProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
