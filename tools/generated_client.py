"""Generates a Python client from the description of a running service, and uses it as another program would.

usage: generated_client.py TESSERA

Runs in an environment with the packages of generated_client.txt. A warning of the generator is a failure, because the
client would lack a part of the API.
"""

import base64
import hashlib
import hmac
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from pathlib import Path

IMAGES = 24
LIMIT_SECONDS = 60
PACKAGE = "dataset_media_service_client"
# The generator knows only one type of binary content.
GENERATOR_CONFIG = {
    "content_type_overrides": {
        "application/zip": "application/octet-stream",
        "image/jpeg": "application/octet-stream",
    }
}


def require(condition, message):
    if not condition:
        sys.exit(f"error: {message}")


def wait_for(what, read):
    """Returns the first result of `read` that is not None."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        if (result := read()) is not None:
            return result
        time.sleep(0.2)
    sys.exit(f"error: {what} took longer than {LIMIT_SECONDS} s")


def token(key, secret):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    now = int(time.time())
    header = {"alg": "HS256", "typ": "JWT", "kid": key}
    payload = {"sub": key, "iat": now, "exp": now + 600, "iss": "sdk"}
    text = b".".join(part(json.dumps(value).encode()) for value in (header, payload))
    signature = hmac.new(secret.encode(), text, hashlib.sha256).digest()
    return (text + b"." + part(signature)).decode()


def generate(openapi, folder):
    config = folder / "generator.json"
    config.write_text(json.dumps(GENERATOR_CONFIG))
    generator = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    # The generator formats what it has written with a program beside Python.
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    target = ["--url", openapi, "--config", config, "--output-path", folder / "client"]
    subprocess.run(generator + target, check=True, env={**os.environ, "PATH": paths})
    sys.path.insert(0, str(folder / "client"))


def use(service):
    def operation(name):
        return importlib.import_module(f"{PACKAGE}.api.default.{name}").sync

    models = importlib.import_module(f"{PACKAGE}.models")
    client = importlib.import_module(PACKAGE).AuthenticatedClient(
        base_url=service["base_url"], token=token(service["api_key"], service["api_secret"])
    )

    def only_dataset():
        datasets = operation("datasets")(client=client)
        require(len(datasets) == 1, f"expected one dataset, not {datasets}")
        return datasets[0] if datasets[0].status_new == "READY" else None

    dataset = wait_for("indexing", only_dataset)
    require(dataset.n_images == IMAGES, f"expected {IMAGES} images, not {dataset.n_images}")

    def explore(**filters):
        entity_type = models.ExploreEntityType.IMAGES
        return operation("explore")(dataset.id, client=client, entity_type=entity_type, **filters)

    def found(**filters):
        page = explore(**filters)
        require(isinstance(page, models.ExploreBody), f"{filters}: {page}")
        return sum(cluster.n_images for cluster in page.clusters)

    require(found() == IMAGES, "the clusters do not contain all images")
    labeled = models.LabelsFilterLabels(op=models.LabelsFilterLabelsOp.ONE_OF, value=["desert"])
    vql = json.dumps([models.LabelsFilter(labels=labeled).to_dict()])
    deserts = found(vql=vql)
    require(0 < deserts < IMAGES, f"{vql} finds {deserts} of {IMAGES} images")
    require(found(labels='["desert"]') == deserts, "the parameter labels finds other images")
    refused = explore(tags=f'["{dataset.id}"]')
    require(isinstance(refused, models.InvalidBody), f"an unknown tag is accepted: {refused}")

    task = operation("export_context_async")(
        dataset.id,
        client=client,
        file_name="deserts.zip",
        export_format=models.ExportContextAsyncExportFormat.JSON,
        include_images=True,
        vql=vql,
    )

    def download_uri():
        state = operation("export_status")(dataset.id, client=client, export_task_id=task.id)
        require(state.status != "FAILED", f"the export failed: {state.result_message}")
        return state.download_uri or None

    with urllib.request.urlopen(wait_for("the export", download_uri)) as response:
        archive = zipfile.ZipFile(io.BytesIO(response.read()))
    rows = json.loads(archive.read("metadata.json"))["media_items"]
    images = [name for name in archive.namelist() if name.startswith("images/") and name[-1] != "/"]
    require(len(rows) == deserts, f"expected {deserts} rows in the archive, not {len(rows)}")
    require(len(images) >= deserts, f"expected {deserts} images in the archive, not {images}")
    print(f"a generated client listed, filtered and exported {deserts} of {IMAGES} images")


def main():
    require(len(sys.argv) == 2, "usage: generated_client.py TESSERA")
    tessera = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]:
            os.environ[variable] = name
        demo = [tessera, "demo", "--images", str(IMAGES), "--data", folder / "demo"]
        subprocess.run(demo, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pictures = folder / "demo" / f"sample-{IMAGES}"
        serve = [tessera, "serve", pictures, "--data", folder / "index"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE) as process:
            try:
                service = json.loads(process.stdout.readline())
                with urllib.request.urlopen(service["base_url"]) as response:
                    openapi = json.load(response)["openapi"]
                generate(openapi, folder)
                use(service)
            finally:
                process.terminate()


main()
