# A Homebrew formula. Put it into a tap: brew install OWNER/TAP/tessera-tui
class TesseraTui < Formula
  desc "See, search and curate image and video datasets from a terminal"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL@/tessera-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
  end

  on_linux do
    on_intel do
      url "@URL@/tessera-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
    on_arm do
      url "@URL@/tessera-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "tessera"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tessera.bash" => "tessera"
    zsh_completion.install "completions/_tessera"
    fish_completion.install "completions/tessera.fish"
    doc.install "README.md", "CHANGELOG.md", "THIRD-PARTY.md"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tessera version")
  end
end
