"""The pages in a browser, as wide as a desk's screen and as a phone's."""

import json
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, SHORT, TINY, sets, succeed

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None,
                                reason="skipped: chromium is not installed; apt-get install chromium")

# What a reader would see, measured by the browser in a frame of its own width: headless windows are
# at least 500 pixels wide.
FRAME = """<!DOCTYPE html><iframe id="f" style="width: WIDTHpx; height: 3000px; border: 0" srcdoc="PAGE"></iframe>
<script>
document.getElementById("f").onload = function () {
  const page = this.contentDocument, root = page.documentElement;
  const shown = e => e.getBoundingClientRect().width > 0;
  const letters = [...page.querySelectorAll("svg text")].filter(shown).map(t => {
    const matrix = t.getScreenCTM();
    const size = parseFloat(getComputedStyle(t).fontSize);
    return Math.abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5 * size;
  });
  const said = {
    page: root.scrollWidth, screen: root.clientWidth, letters: Math.min(...letters), texts: letters.length,
    wider: [...page.querySelectorAll(".wide")].filter(e => e.scrollWidth > e.clientWidth).length,
    pictures: [...page.querySelectorAll("figure")].filter(f => [...f.querySelectorAll("svg, img")].some(shown)).length,
    figures: page.querySelectorAll("figure").length,
    headings: [...page.querySelectorAll("th")].filter(e => e.textContent.trim() === "").length};
  document.body.dataset.said = JSON.stringify(said);
};
</script>"""


def look(page, width, folder):
    """What the browser measured of a page in a frame of this width."""
    inner = page.read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
    frame = folder / f"{width}.html"
    frame.write_text('<meta charset="utf-8">' + FRAME.replace("WIDTH", str(width)).replace("PAGE", inner),
                     encoding="utf-8")
    result = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--window-size=1400,3000", "--virtual-time-budget=10000", "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, timeout=120, check=True)
    said = re.search(r'data-said="([^"]*)"', result.stdout)
    assert said, result.stderr[-2000:]
    return json.loads(said[1].replace("&quot;", '"'))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    succeed("train", *TINY, *SHORT, *sets("train.seeds=2"), "--out", folder / "train")
    succeed("compare", *TINY, *SHORT, *sets("problem.structure=repeated", "problem.repeat=4"), "--out",
            folder / "compare")
    succeed("field", "--quick", "--out", folder / "field")
    succeed("reproduce", "table1", "delta-hard", "overlap", "--quick", "--out", folder / "reproduce")
    model = folder / "train" / "model.safetensors"
    succeed("certify", model, "--support", "1,5", "--attack", "3", "--out", folder / "certify")
    succeed("sample", *TINY, *sets("problem.test=700"), "--out", folder / "data")
    succeed("certify", model, "--calibrate", folder / "data" / "x_test.npy", "--out",
            folder / "calibrate")
    names = {"field": "field.html", "certify": "certificate.html", "calibrate": "calibration.html"}
    made = {kind: folder / kind / names.get(kind, "report.html")
            for kind in ("train", "compare", "field", "reproduce", "certify", "calibrate")}
    return made | {"published": ROOT / "docs" / "results" / "paper" / "report.html"}


@pytest.mark.parametrize("kind", ["train", "compare", "field", "reproduce", "certify", "published"])
@pytest.mark.parametrize("width", [390, 820, 1200])
def test_a_page_fits_its_screen_and_can_be_read(kind, width, pages, tmp_path):
    said = look(pages[kind], width, tmp_path)
    assert said["page"] <= said["screen"] <= width
    assert said["texts"] > 10 and said["letters"] >= 11
    assert said["headings"] == 0
    assert said["pictures"] == said["figures"] > 0
    if width == 390:
        assert said["wider"] > 0  # otherwise no table was wide enough to test that it scrolls by itself


@pytest.mark.parametrize("width", [390, 1200])
def test_a_calibration_fits_its_screen(width, pages, tmp_path):
    said = look(pages["calibrate"], width, tmp_path)
    assert said["page"] <= said["screen"] <= width
    assert said["headings"] == 0 and said["figures"] == 0
