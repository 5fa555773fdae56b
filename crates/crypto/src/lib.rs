//! Signs and verifies tokens, and encrypts connections, with `ring` as the one library for both. By default, `rustls`
//! and `jsonwebtoken` bring `aws-lc`, whose C code takes four times as long to compile and needs a C++ toolchain on
//! some systems.

mod http_tls;

use std::sync::{Arc, Once};

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{CryptoProvider as TokenProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result as TokenResult, new_error},
    signature::{Error as SignatureError, Signer, Verifier},
};
use ring::hmac;
use rustls::crypto::CryptoProvider as TlsProvider;

pub use http_tls::{
    AUTHORITY_VARIABLES, causes, certificate_problem, http_tls_config, is_ca_used_as_end_entity,
    system_tls_config,
};
pub use rustls::ClientConfig;

/// Signs and verifies tokens with HS256, the only algorithm that the API uses.
static TOKEN_PROVIDER: TokenProvider = TokenProvider {
    signer_factory: |algorithm, key| signer(*algorithm, key),
    verifier_factory: |algorithm, key| verifier(*algorithm, key),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the library for the process. Every function that signs a token, verifies one, or builds an HTTP client
/// without a configuration of TLS calls this function first. Only the first call has an effect.
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

/// Signs and verifies with HMAC with SHA-256 (RFC 7518 section 3.2). Every other algorithm is refused.
struct Hs256(hmac::Key);

impl Hs256 {
    fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }
}

/// Returns a signer that uses the secret `key`.
fn signer(algorithm: Algorithm, key: &EncodingKey) -> TokenResult<Box<dyn JwtSigner>> {
    require_hs256(algorithm, key.family())?;
    Ok(Box::new(Hs256::new(key.as_bytes())))
}

/// Returns a verifier for signatures that were made with the secret `key`.
fn verifier(algorithm: Algorithm, key: &DecodingKey) -> TokenResult<Box<dyn JwtVerifier>> {
    require_hs256(algorithm, key.family())?;
    Ok(Box::new(Hs256::new(key.try_get_as_bytes()?)))
}

fn require_hs256(algorithm: Algorithm, family: AlgorithmFamily) -> TokenResult<()> {
    if algorithm != Algorithm::HS256 {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    if family != AlgorithmFamily::Hmac {
        return Err(new_error(ErrorKind::InvalidKeyFormat));
    }
    Ok(())
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        hmac::verify(&self.0, message, signature).map_err(|_| SignatureError::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
    use jsonwebtoken::{Header, Validation, crypto, decode, encode};

    use super::*;

    type Claims = BTreeMap<String, String>;

    /// The key, the signed text and the signature of RFC 7515, appendix A.1.
    #[test]
    fn signs_as_the_example_of_the_standard() {
        install();
        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let key = EncodingKey::from_secret(&BASE64_URL_SAFE_NO_PAD.decode(key).unwrap());
        let message = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let signature = crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap();
        assert_eq!(signature, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    }

    #[test]
    fn only_the_secret_that_signed_a_token_verifies_it() {
        install();
        let claims: Claims = [("sub".to_owned(), "me".to_owned())].into();
        let token = encode(&Header::default(), &claims, &EncodingKey::from_secret(b"a")).unwrap();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.required_spec_claims.clear();
        let read = |secret: &[u8]| {
            decode::<Claims>(&token, &DecodingKey::from_secret(secret), &validation)
        };
        assert_eq!(read(b"a").unwrap().claims, claims);
        assert!(read(b"b").is_err());
    }

    #[test]
    fn other_algorithms_are_refused() {
        install();
        let key = EncodingKey::from_secret(b"a");
        assert!(encode(&Header::new(Algorithm::HS512), &Claims::new(), &key).is_err());
    }
}
