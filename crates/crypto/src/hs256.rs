//! Signs and verifies tokens with HS256 (HMAC with SHA-256, RFC 7518 section 3.2). Every other algorithm is refused.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{JwtSigner, JwtVerifier},
    errors::{ErrorKind, Result, new_error},
    signature::{Error as SignatureError, Signer, Verifier},
};
use ring::hmac;

struct Hs256(hmac::Key);

impl Hs256 {
    fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }
}

/// Returns a signer that uses the secret `key`.
pub fn signer(algorithm: Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    require_hs256(algorithm, key.family())?;
    Ok(Box::new(Hs256::new(key.as_bytes())))
}

/// Returns a verifier for signatures that were made with the secret `key`.
pub fn verifier(algorithm: Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    require_hs256(algorithm, key.family())?;
    Ok(Box::new(Hs256::new(key.try_get_as_bytes()?)))
}

fn require_hs256(algorithm: Algorithm, family: AlgorithmFamily) -> Result<()> {
    if algorithm != Algorithm::HS256 {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    if family != AlgorithmFamily::Hmac {
        return Err(new_error(ErrorKind::InvalidKeyFormat));
    }
    Ok(())
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, SignatureError> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(
        &self,
        message: &[u8],
        signature: &Vec<u8>,
    ) -> std::result::Result<(), SignatureError> {
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
    use jsonwebtoken::{
        Algorithm, DecodingKey, EncodingKey, Header, Validation, crypto, decode, encode,
    };

    type Claims = BTreeMap<String, String>;

    /// The key, the signed text and the signature of RFC 7515, appendix A.1.
    #[test]
    fn signs_as_the_example_of_the_standard() {
        crate::install();
        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let key = EncodingKey::from_secret(&BASE64_URL_SAFE_NO_PAD.decode(key).unwrap());
        let message = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let signature = crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap();
        assert_eq!(signature, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    }

    #[test]
    fn only_the_secret_that_signed_a_token_verifies_it() {
        crate::install();
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
        crate::install();
        let key = EncodingKey::from_secret(b"a");
        assert!(encode(&Header::new(Algorithm::HS512), &Claims::new(), &key).is_err());
    }
}
