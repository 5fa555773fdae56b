# A package for nix: nix-build -E '(import <nixpkgs> {}).callPackage ./package.nix {}'
{ lib, stdenv, fetchurl, installShellFiles }:

let
  archives = {
    x86_64-linux = {
      target = "x86_64-unknown-linux-musl";
      sha256 = "@SHA256:x86_64-unknown-linux-musl@";
    };
    aarch64-linux = {
      target = "aarch64-unknown-linux-musl";
      sha256 = "@SHA256:aarch64-unknown-linux-musl@";
    };
    aarch64-darwin = {
      target = "aarch64-apple-darwin";
      sha256 = "@SHA256:aarch64-apple-darwin@";
    };
  };
  archive = archives.${stdenv.hostPlatform.system}
    or (throw "there is no archive for ${stdenv.hostPlatform.system}");
in
stdenv.mkDerivation rec {
  pname = "tessera-tui";
  version = "@VERSION@";

  src = fetchurl {
    url = "@URL@/tessera-${version}-${archive.target}.tar.gz";
    inherit (archive) sha256;
  };

  nativeBuildInputs = [ installShellFiles ];

  installPhase = ''
    runHook preInstall
    install -Dm755 tessera $out/bin/tessera
    installManPage man/*.1
    installShellCompletion completions/tessera.bash completions/_tessera completions/tessera.fish
    runHook postInstall
  '';

  meta = {
    description = "See, search and curate image and video datasets from a terminal";
    homepage = "@HOMEPAGE@";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "tessera";
    platforms = builtins.attrNames archives;
  };
}
